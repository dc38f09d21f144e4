"""Planning with measures of lexicons: their units, what they read, what is refused beforehand."""

import copy
import shutil
from pathlib import Path

import pytest

from tests.configs import ROOT, run_on_testbed
from tests.unit.lexicon.wordnet_files import write_wordnet
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.catalogues.lexicon_measures import on_testbed
from workflow_scripts.stages.catalogue import run_layout, validate
from workflow_scripts.stages.lexicon.checks import problems
from workflow_scripts.stages.lexicon.stage import Lexicon
from workflow_scripts.stages.release.stage import Release

UNIT = ("lexicon", "words-measures")


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = run_on_testbed()
    config["data"] = str(tmp_path)
    config["run"]["lexicons"] = ["words"]
    config["lexicons"] = {"words": {"training_sets": ["all"]}}
    (tmp_path / "sets").mkdir()
    (tmp_path / "sets" / "similar.txt").write_text("a b 1\nc d 2\n")
    write_wordnet(tmp_path / "wordnet")
    return config


def real_text(config):
    """Return the configuration with a corpus that is not of the testbed."""
    other = copy.deepcopy(config)
    for name in ("source", "reference"):
        Path(config["data"], f"text.{name}").write_text("a\n")
    corpus = {"source": "text.source", "reference": "text.reference"}
    other["corpora"]["text"] = corpus
    other["run"]["corpora"] = [*other["run"]["corpora"], "text"]
    return other


def measuring(config, **block):
    other = copy.deepcopy(config)
    other["evaluate"]["lexicons"] = block
    return other


def test_on_the_testbed_synonyms_are_always_measured(config):
    layout = run_layout(config)
    assert layout.upstream(UNIT) == [("lexicon", "words"), ("filter", "all-parabank2")]
    assert layout.settings(UNIT)["testbed"] is True
    assert UNIT in layout.stage(Release).reads(None)
    assert layout.stage(Lexicon).files(UNIT[1]) == ["sample.tsv", "measures.json"]
    assert "lexicon_synonyms" in layout.stage(Lexicon).tables()


def test_elsewhere_a_lexicon_is_measured_where_there_is_something_to_measure_by(config):
    config = real_text(config)
    assert not on_testbed(config)
    layout = run_layout(config)
    assert UNIT not in layout.units()
    assert not [name for name in layout.stage(Lexicon).tables() if "similarity" in name]
    layout = run_layout(measuring(config, word_similarity=["sets"]))
    assert UNIT in layout.units()
    assert ("filter", "all-parabank2") not in layout.upstream(UNIT)
    assert "lexicon_synonyms" not in layout.stage(Lexicon).tables()


def test_embeddings_are_compared_by_their_first_seed_where_there_are_word_pairs(config):
    config["run"]["embeddings"] = ["word"]
    config["embeddings"]["word"] = {"seeds": [4, 5]}
    without = run_layout(config)
    assert not [unit for unit in without.upstream(UNIT) if unit[0] == "embed"]
    layout = run_layout(measuring(config, word_similarity=["sets"]))
    assert layout.stage(Lexicon).compared() == {"word-all-parabank2": "word-all-parabank2-seed4"}
    assert ("embed", "word-all-parabank2-seed4") in layout.upstream(UNIT)


def test_measures_move_no_other_unit_but_the_release(config):
    before, after = (
        {unit: layout.key(*unit) for unit in layout.units()}
        for layout in map(run_layout, (config, measuring(config, word_similarity=["sets"])))
    )
    assert {unit for unit in before if before[unit] != after[unit]} == {UNIT, ("release", None)}


def test_the_docs_name_the_tables(config):
    text = (ROOT / "docs" / "release.md").read_text("utf-8")
    tables = run_layout(measuring(config, word_similarity=["sets"])).stage(Lexicon).tables()
    assert len(tables) == 5 and all(f"`{name}.tsv`" in text for name in tables)


def test_without_lexicons_the_block_moves_nothing(config):
    config["run"]["lexicons"] = []
    other = measuring(config, word_similarity=["sets"])
    assert run_layout(other).key("release") == run_layout(config).key("release")
    assert not [unit for unit in run_layout(other).units() if unit[0] == "lexicon"]


def test_files_count_by_their_content(config, tmp_path):
    config = measuring(config, word_similarity=["sets"], wordnet="wordnet")
    first = run_layout(config)
    files = first.stage(Lexicon).inputs(UNIT[1])
    assert len(files) == 9 and str(tmp_path / "sets" / "similar.txt") in files
    shutil.move(tmp_path / "sets", tmp_path / "elsewhere")
    moved = copy.deepcopy(config)
    moved["evaluate"]["lexicons"]["word_similarity"] = ["elsewhere"]
    assert run_layout(moved).key(*UNIT) == first.key(*UNIT)
    (tmp_path / "elsewhere" / "similar.txt").write_text("a b 1\nc d 3\n")
    assert run_layout(moved).key(*UNIT) != first.key(*UNIT)


@pytest.mark.parametrize("key", ["ppdb", "antonyms", "vectors"])
def test_every_file_counts_by_its_name_and_content(config, tmp_path, key):
    def measured(name, text):
        (tmp_path / name).write_text(text)
        layout = run_layout(measuring(config, word_similarity=["sets"], **{key: [name]}))
        assert str(tmp_path / name) in layout.stage(Lexicon).inputs(UNIT[1])
        return layout.key(*UNIT)

    first = measured("one.txt", "a b\n")
    assert len({first, measured("two.txt", "a b\n"), measured("one.txt", "a c\n")}) == 3


@pytest.mark.parametrize(
    ("path", "value"), [(("evaluate", "bootstrap"), 77), (("seed",), 5), (("encoder",), False)]
)
def test_every_setting_of_the_measures_counts(config, path, value):
    before = measuring(config, word_similarity=["sets"])
    after = copy.deepcopy(before)
    block = after["evaluate"]["lexicons"] if path == ("encoder",) else after
    for name in path[:-1]:
        block = block[name]
    block[path[-1]] = value
    assert run_layout(after).key(*UNIT) != run_layout(before).key(*UNIT)


def test_missing_files_say_what_to_do(config, tmp_path):
    with pytest.raises(InputError, match=r"evaluate\.lexicons\.ppdb: .*No such file"):
        run_layout(measuring(config, ppdb=["nothing"])).key(*UNIT)
    # A folder may have other files, which would be read as lists of words.
    for key in ("ppdb", "antonyms", "vectors"):
        with pytest.raises(InputError, match=rf"evaluate\.lexicons\.{key}: .*sets"):
            run_layout(measuring(config, **{"word_similarity": ["sets"], key: ["sets"]})).key(*UNIT)
    (tmp_path / "wordnet" / "verb.exc").unlink()
    with pytest.raises(InputError, match=r"wordnet: .* has no verb\.exc; .*wordnet-base"):
        run_layout(measuring(config, wordnet="wordnet")).key(*UNIT)


@pytest.mark.slow
def test_wordnet_is_english(config):
    config = measuring(config, wordnet="wordnet")
    assert list(problems(config)) == []
    config["languages"]["reference"]["code"] = "pt"
    (problem,) = problems(config)
    assert problem.startswith("evaluate.lexicons.wordnet: WordNet is English")
    assert run_layout(measuring(config)).settings(UNIT)["encoder"] is None


def test_an_unknown_key_is_refused(config):
    with pytest.raises(InputError, match=r"evaluate\.lexicons.*similarities"):
        validate(measuring(config, similarities=["sets"]))


def test_vectors_without_word_pairs_are_refused(config):
    (problem,) = problems(measuring(config, vectors=["glove.txt"]))
    assert problem.startswith("evaluate.lexicons.vectors: they are compared on word pairs")
    assert not list(problems(measuring(config, vectors=["glove.txt"], word_similarity=["sets"])))
