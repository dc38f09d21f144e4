"""Planning with rewriters: which units there are, what they read, what is refused beforehand."""

import copy
from types import SimpleNamespace

import pytest
import yaml

from tests.configs import changes, keys, merged, refusal, refusals, run_on_testbed
from workflow_scripts.plan.catalogues.rewriters import KINDS
from workflow_scripts.plan.selection import used
from workflow_scripts.stages.catalogue import run_layout
from workflow_scripts.stages.generate.stage import Generate
from workflow_scripts.stages.release.stage import Release
from workflow_scripts.stages.rewrite.checks import problems
from workflow_scripts.stages.rewrite.stage import Rewrite
from workflow_scripts.stages.train.stage import Train

BLOCK = {"training_sets": ["all"], "model": "testbed_scoring"}


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return run_on_testbed()


def with_rewriter(config, **changes):
    other = copy.deepcopy(config)
    other["run"]["rewriters"] = ["plain"]
    other["rewriters"] = {"plain": BLOCK | changes}
    return other


def without_none(config):
    block = config["rewriters"]["plain"]
    config["rewriters"]["plain"] = {key: value for key, value in block.items() if value is not None}
    return config


def test_without_rewriters_there_is_nothing_of_the_stage(config):
    layout = run_layout(config)
    assert not [unit for unit in layout.units() if unit[0] == "rewrite"]
    config["rewriters"] = {"plain": BLOCK}
    assert run_layout(config).key("release") == layout.key("release")
    assert used(config)["rewriters"] == {}


def test_units_in_their_order_and_no_other_unit_changes(config):
    before, layout = keys(run_layout(config)), run_layout(with_rewriter(config))
    after = keys(layout)
    assert [unit for unit in after if unit[0] == "rewrite"] == [
        ("rewrite", "plain-pairs"),
        ("rewrite", "plain-subword"),
        ("rewrite", "plain"),
        ("rewrite", "plain-measures"),
    ]
    assert before.items() <= after.items()
    assert layout.upstream(("rewrite", "plain-pairs")) == [
        ("filter", "all-parabank2"),
        ("embed", "evaluation"),
    ]
    assert layout.stage(Rewrite).trains("plain")
    assert not layout.stage(Rewrite).trains("plain-measures")
    assert ("rewrite", "plain-measures") in layout.stage(Release).reads(None)


def test_without_embeddings_the_sentences_of_tests_are_read_all_the_same(config):
    config["run"]["embeddings"] = []
    units = run_layout(with_rewriter(config)).units()
    assert [unit for unit in units if unit[0] == "embed"] == [("embed", "evaluation")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"held_out": {"dev": 9, "test": 9}}, []),
        ({"vocab_size": 99}, ["plain-pairs"]),
        ({"subword": "forward"}, ["plain-pairs"]),
        ({"samples": 0}, ["plain-pairs", "plain-subword", "plain", "plain-measures"]),
        ({"model": "testbed"}, ["plain-pairs", "plain-subword"]),
        ({"beam": 7}, ["plain-pairs", "plain-subword", "plain"]),
        ({"write": ["reference"]}, []),
        ({"seed": 5}, []),
    ],
)
def test_a_key_changes_what_depends_on_it_and_no_more(config, changes, same):
    before, after = (
        keys(run_layout(block))
        for block in (with_rewriter(config), with_rewriter(config, **changes))
    )
    assert [
        unit[1] for unit, key in before.items() if unit[0] == "rewrite" and after[unit] == key
    ] == (same)


def test_what_is_said_of_a_model_does_not_train_it_again(config):
    before = run_layout(with_rewriter(config))
    config["corpora"]["testbed"]["licence"] = "mine"
    after = run_layout(with_rewriter(config))
    assert after.key("rewrite", "plain") == before.key("rewrite", "plain")
    about = after.settings(("rewrite", "plain"))["about"]
    assert about["inputs"]["corpora"]["testbed"] == "mine"
    assert about["licence"] == "mine; cc0-1.0"


def test_the_vocabulary_of_a_role_is_read_from_its_model(config):
    layout = run_layout(with_rewriter(config, subword="backward"))
    assert ("train", "backward") in layout.upstream(("rewrite", "plain-subword"))


def test_models_of_rewriters_are_used(config):
    config["models"]["mine"] = config["models"]["testbed"]
    assert "mine" in used(with_rewriter(config, model="mine"))["models"]
    assert "mine" not in used(config)["models"]
    assert config["train"]["models"]["forward"] in used(going_on(config))["models"]


def test_systems_that_a_rewriter_writes_are_not_learnt_from(config):
    other = with_rewriter(config)
    other["systems"]["parabank2"]["rewriter"] = {"name": "plain"}
    problems = list(Rewrite.problems(other))
    assert problems == [
        "rewriters.plain.systems: a rewriter writes all systems of its training sets"
    ]


REFUSED = """
training_sets: [other] => 'other' is not among run.training_sets
systems: [paranmt] => none of its training sets is of 'paranmt'
model: nothing => 'nothing' is not in models
training_sets: null => it has no training_sets; only a finished model does without
prefix: 'paraphrase: ' => prefix: only a finished model has one; take it out
{model: student_pt_en, samples: 0} => samples: the model 'student_pt_en' is finished
{model: student_pt_en, training_sets: null, write: [reference]} => write: it goes with
    training_sets, which measure a finished model
{subword: forward, vocab_size: 100} => only an own vocabulary has it
samples: 2 => samples: bpe models have one segmentation only
subword: filter => (Its vocabulary: own
held_out: {dev: 0, test: 5} => 0 is less than the minimum
held_out: {dev: 5} => 'test' is missing
write: [] => rewriters.plain.write
writes: [paraphrase] => did you mean 'write'
noise: {weights: {omit: 0}} => noise.weights: no kind has a weight above 0
noise: {weights: {}} => rewriters.plain.noise
noise: {weights: {omits: 1}} => omits
noise: {clean: 1.5} => rewriters.plain.noise
"""


@pytest.mark.parametrize(("block", "message"), refusals(REFUSED))
def test_a_block_that_can_not_be_is_refused_beforehand(config, block, message):
    assert message in refusal(without_none(with_rewriter(config, **yaml.safe_load(block))))


AROUND = """
run.rewriters: [plane] => : 'plane' is not in rewriters; did you mean 'plain'
{run.rewriters: [plane], rewriters: null} => run.rewriters: 'plane' is not in rewriters
training_sets.all.grid: {sample: [10, 20]} => 'all' has a grid
{rewriters.plain.subword: forward, train.models.forward: student_pt_en} => the forward model is a
    finished one
"""


@pytest.mark.parametrize(("change", "message"), refusals(AROUND))
def test_what_is_wrong_around_a_block_is_refused(config, change, message):
    config = merged(with_rewriter(config), changes(change))
    if config["rewriters"] is None:
        del config["rewriters"]
    assert message in refusal(config)


def test_noise_is_measured_and_changes_the_pairs(config):
    before, layout = (
        keys(run_layout(with_rewriter(config))),
        run_layout(with_rewriter(config, noise={})),
    )
    after = keys(layout)
    assert after.keys() - before.keys() == {("rewrite", "plain-repair")}
    assert layout.upstream(("rewrite", "plain-repair")) == [
        ("rewrite", "plain-pairs"),
        ("rewrite", "plain"),
    ]
    assert after["rewrite", "plain-pairs"] != before["rewrite", "plain-pairs"]
    assert ("rewrite", "plain-repair") in layout.stage(Release).reads(None)
    settings = layout.stage(Rewrite).settings("plain-pairs")
    assert settings["noise"] == {
        **{"clean": 0.2, "most": 2, "copies": 1, "identity": 1},
        "weights": dict.fromkeys(KINDS, 1.0),
    }
    assert layout.stage(Rewrite).settings("plain")["about"]["noise"] == settings["noise"]
    assert layout.stage(Rewrite).settings("plain-repair")["kinds"] == list(KINDS)
    for sections in (layout.stage(Rewrite).sections(), layout.stage(Rewrite).tables()):
        assert any("repair" in function for function in sections.values())
    plain = run_layout(with_rewriter(config)).stage(Rewrite)
    for sections in (plain.sections(), plain.tables()):
        assert not any("repair" in function for function in sections.values())


def test_english_rules_are_refused_for_other_languages(config):
    other = with_rewriter(config, noise={"weights": {"omit": 1, "verb": 1}})
    other["languages"] = {"source": config["languages"]["reference"]}
    other["languages"]["reference"] = config["languages"]["source"]
    of_noise = [problem for problem in problems(other) if "noise" in problem]
    assert of_noise == [
        "rewriters.plain.noise.weights: verb: their rules are English, and the references are "
        "'cs'; give them no weight"
    ]
    other["rewriters"]["plain"]["noise"] = {}
    assert not [problem for problem in problems(other) if "noise" in problem]


CONTINUED = {"model": None, "continued": {"from": "forward", "max_updates": 100}}


def going_on(config, **changes):
    return without_none(with_rewriter(config, **(CONTINUED | changes)))


def test_a_rewriter_that_goes_on_reads_the_model_of_the_role(config):
    config["subword"] |= {"model_type": "unigram", "samples": 4, "nbest": 64, "alpha": 0.1}
    layout = run_layout(going_on(config))
    stage = layout.stage(Rewrite)
    assert ("train", "forward") in layout.upstream(("rewrite", "plain-subword"))
    assert ("train", "forward") in layout.upstream(("rewrite", "plain"))
    from_scratch = run_layout(with_rewriter(config))
    assert ("train", "forward") not in from_scratch.upstream(("rewrite", "plain"))
    assert stage.settings("plain")["continued"]["learning_rate"] == 0.0002
    assert "model" not in stage.settings("plain")
    assert stage.settings("plain")["about"]["subword"] == "forward"
    # The model knows one segmentation of a sentence.
    assert stage.settings("plain-subword")["samples"] == 0


def test_going_on_from_another_model_is_another_training(config):
    before = run_layout(going_on(config)).key("rewrite", "plain")
    config["models"]["testbed"]["size"] = 64
    config["train"]["models"]["forward"] = "testbed"
    assert run_layout(going_on(config)).key("rewrite", "plain") != before


NOT_GOING_ON = """
model: testbed => plain.model: with continued, the other model says it
vocab_size: 99 => plain.vocab_size: with continued, the other model says it
samples: 2 => plain.samples: with continued, the other model says it
subword: backward => with continued it is 'forward'; take it out
continued: null => it has neither model nor continued
continued: {from: backward, max_updates: 9} => continued
continued: {from: forward} => max_updates
continued: {from: forward, max_updates: 9, warmup: 9} => warmup is 9, and max_updates 9
"""


@pytest.mark.parametrize(("block", "message"), refusals(NOT_GOING_ON))
def test_a_block_that_can_not_go_on_is_refused_beforehand(config, block, message):
    assert message in refusal(going_on(config, **yaml.safe_load(block)))


@pytest.mark.parametrize("chosen", [{"tag": ">>eng<<"}, {"source": "ces", "target": "eng"}])
def test_a_model_of_several_languages_is_refused_beforehand(config, chosen):
    config["models"]["several"] = {"folder": "somewhere"} | chosen
    config["train"]["models"]["forward"] = "several"
    problems = list(Rewrite.problems(going_on(config)))
    assert len(problems) == 1
    assert f"model has {' and '.join(chosen)}, as it knows several languages" in problems[0]


def test_a_corpus_from_outside_is_among_the_inputs_whose_licence_is_told(config, tmp_path):
    (tmp_path / "given.tsv").write_text("One.\tOther.\n", encoding="utf-8")
    config |= {"data": str(tmp_path), "outside": {"given": {"tsv": "given.tsv"}}}
    config["run"]["outside"] = ["given"]
    about = run_layout(with_rewriter(config)).settings(("rewrite", "plain"))["about"]
    assert about["systems"] == ["parabank2", "given"]
    assert about["inputs"]["corpora"] == {
        **{"testbed": "cc0-1.0", "testbed_held_out": "cc0-1.0"},
        "given": None,
    }
    assert about["licence"] == "unknown"
    alone = with_rewriter(config, systems=["parabank2"])
    about = run_layout(alone).settings(("rewrite", "plain"))["about"]
    assert "given" not in about["inputs"]["corpora"]
    assert about["licence"] == "cc0-1.0"


@pytest.mark.parametrize(
    ("licence", "of_rewriter"), [("cc-by-sa-4.0", "cc0-1.0; cc-by-sa-4.0"), (None, "unknown")]
)
def test_the_licence_of_a_finished_model_that_is_gone_on_from_counts(config, licence, of_rewriter):
    config["models"]["done"] = {"folder": "done"} | ({"licence": licence} if licence else {})
    config["train"]["models"]["forward"] = "done"
    for run, expected in ((going_on(config), of_rewriter), (with_rewriter(config), "cc0-1.0")):
        about = Rewrite(SimpleNamespace(config=run)).settings("plain")["about"]
        assert about["licence"] == expected
    assert "continued" not in about


def with_finished(config, **changes):
    """Return the run with a finished paraphraser in place of a rewriter that is trained."""
    config["models"]["hub"] = {"package": "models", "version": "1", "path": "bart"}
    return without_none(with_rewriter(config, **{"model": "hub", "prefix": "say: "} | changes))


def test_a_finished_model_is_taken_over_and_measured_where_training_sets_are_named(config):
    before = keys(run_layout(config))
    alone, measured = (
        run_layout(with_finished(config, training_sets=sets)) for sets in (None, ["all"])
    )
    added = keys(alone).keys() - before.keys()
    assert added == {("train", "rewriter_plain"), ("rewrite", "plain")}
    assert keys(measured).keys() - before.keys() - added == {
        ("rewrite", "plain-pairs"),
        ("rewrite", "plain-measures"),
    }
    assert before.items() <= keys(measured).items()
    # Pairs only measure it.
    assert keys(alone)["rewrite", "plain"] == keys(measured)["rewrite", "plain"]
    assert alone.upstream(("rewrite", "plain")) == [("train", "rewriter_plain")]
    assert alone.upstream(("train", "rewriter_plain")) == []
    settings = alone.settings(("train", "rewriter_plain"))
    assert settings["languages"] == {"source": "en", "reference": "en"}
    assert settings["direction"] == "forward"
    stage = alone.stage(Rewrite)
    assert not stage.trains("plain")
    assert stage.wildcards()["finished_rewriter"] == ["plain"]
    assert stage.wildcards()["trained_rewriter"] == []
    other = run_layout(with_finished(config, training_sets=None, prefix="paraphrase: "))
    assert other.key("rewrite", "plain") != alone.key("rewrite", "plain")
    assert other.key("train", "rewriter_plain") == alone.key("train", "rewriter_plain")


def test_a_prefix_that_stands_beside_a_finished_model_is_not_lost(config, tmp_path):
    (tmp_path / "rewriter.json").write_text('{"prefix": "say: "}')
    run = with_finished(config, training_sets=None, prefix=None)
    run["models"]["hub"] = {"folder": str(tmp_path)}
    told = f"{tmp_path}/rewriter.json says 'say: '; say it here, or '' for none"
    assert list(Rewrite.problems(run)) == [f"rewriters.plain.prefix: {told}"]
    for prefix in ("say: ", ""):
        run["rewriters"]["plain"]["prefix"] = prefix
        assert list(Rewrite.problems(run)) == []
    del run["rewriters"]["plain"]["prefix"]
    (tmp_path / "rewriter.json").write_text("{")
    assert "rewriter.json can't be read" in next(Rewrite.problems(run))


def test_the_licence_of_a_finished_rewriter_is_the_model_s_alone(config):
    config["release"]["licence"] = "cc0-1.0"
    about = run_layout(with_finished(config)).settings(("rewrite", "plain"))["about"]
    assert (about["licence"], about["inputs"]["corpora"]) == ("unknown", {})
    run = with_finished(config)
    run["models"]["hub"]["licence"] = "cc-by-nc-4.0"
    layout = run_layout(run)
    assert layout.settings(("rewrite", "plain"))["about"]["licence"] == "cc-by-nc-4.0"
    release = layout.stage(Release)
    told = [model["role"] for model in release.settings(None)["models"]]
    assert told == ["rewriter_plain"]
    # The corpus of a system that it does not write has nothing of it.
    assert "models" not in release.system_settings("parabank2")


@pytest.mark.parametrize(
    ("references", "sets", "message"),
    [
        ("held_out", None, "no references are held out; say references: all, or name training"),
        ("held_out", ["half"], None),
        ("all", None, None),
    ],
)
def test_what_a_finished_rewriter_may_read(config, references, sets, message):
    run = with_finished(config, training_sets=sets)
    parabank2 = run["systems"]["parabank2"]
    run["systems"]["mono"] = copy.deepcopy(parabank2)
    run["systems"]["mono"]["rewriter"] = {"name": "plain", "references": references}
    run["run"] |= {"systems": ["parabank2", "mono"], "training_sets": ["all", "half"]}
    run["training_sets"]["half"] = {"systems": ["parabank2"]}
    found = [problem for problem in Generate.problems(run) if "references" in problem]
    assert bool(found) == bool(message)
    if message:
        assert message in found[0]
        return
    assert not list(Generate.notes(run))
    layout = run_layout(run)
    mono = layout.stage(Release).system_settings("mono")
    assert mono["rewriter"]["model"] == "hub"
    assert [model["role"] for model in mono["models"]] == ["rewriter_plain"]
    assert ("rewrite", "plain") in layout.upstream(("generate", "mono"))


def test_what_a_finished_rewriter_needs_is_downloaded(config):
    run = with_finished(config, training_sets=None)
    run["models"]["hub"] = {"hub": "group/bart", "revision": "a" * 40}
    train = run_layout(run).stage(Train)
    record = train.hub_record("rewriter_plain")
    assert record.endswith(f"hub/group--bart/{'a' * 40}.json")
    assert train.hub_block(record) == run["models"]["hub"]
    assert train.outside("rewriter_plain") == [record.removesuffix(".json")]
    assert train.take_over_job(SimpleNamespace(finished_role="rewriter_plain")).users == [record]
