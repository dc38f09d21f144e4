"""Columns that are features of pairs."""

import json
import re

import numpy as np
import pytest

from tests.unit.filter.conftest import arguments, pair, write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import (
    PAIR_COLUMNS,
    PairColumnsRow,
    PairRow,
    PairValueRow,
    ReferenceScoreRow,
)
from workflow_scripts.encoding.sentence_vectors import load_encoder
from workflow_scripts.plan.catalogues.pair_features import (
    COLUMNS,
    ELSEWHERE,
    LANGUAGES,
    NEEDS,
    WITHOUT_COLUMN,
)
from workflow_scripts.plan.schema import definition
from workflow_scripts.stages.filter import feature_values
from workflow_scripts.stages.generate import known_words
from workflow_scripts.stages.judge.features import FEATURES

PAIRS = [
    pair("c:1", 1, "Tom sees a dog.", "Tom saw three dogs.", translation_cost=0.5),
    pair("c:1", 2, "Tom sees a dog.", "Tone does not see a cat.", translation_cost=1.5),
    pair("c:2", 1, "the cat sees", "the cat looks", translation_cost=0.25),
]


SCORES = [
    {"id": "c:2", "corpus": "c", "forward_nll": 1.0, "backward_nll": 2.0, "sum": 3.0},
    {"id": "c:1", "corpus": "c", "forward_nll": 1.0, "backward_nll": np.inf, "sum": np.inf},
]


def test_the_plan_knows_what_each_feature_needs():
    assert {name: (*each.columns, *each.models) for name, each in FEATURES.items()} == NEEDS
    found = {name: each.languages for name, each in FEATURES.items() if each.languages}
    assert found == LANGUAGES


def test_every_feature_can_be_a_column_unless_it_is_one():
    assert definition("feature")["properties"]["name"]["enum"] == COLUMNS
    assert set(COLUMNS) == FEATURES.keys() - ELSEWHERE - WITHOUT_COLUMN
    assert ELSEWHERE - {"forward_nll", "words", "language_model"} <= set(PAIR_COLUMNS)


def column(folder, name, *, pairs=PAIRS, language="en", config=None, **options):
    shard = write_table(folder / "0000.parquet", PairColumnsRow, pairs)
    output = folder / "values" / "0000.parquet"
    settings = {"name": name, "language": language, **(config or {})}
    feature_values.main(arguments(settings, pairs=shard, output=output, **options))
    rows = list(read_rows(output, PairValueRow))
    assert [(row["id"], row["rank"]) for row in rows] == [(p["id"], p["rank"]) for p in pairs]
    return [row["value"] for row in rows]


@pytest.fixture
def words(tmp_path):
    folder = tmp_path / "pairs"
    references = ["So Tom sees a dog.", "the cat sees, it saw", "don't look!", "The tone does."]
    for shard, some in enumerate((references[:2], references[2:])):
        rows = [
            {"id": f"c:{text}", "source": "x", "reference": text, "corpus": "c"} for text in some
        ]
        write_table(folder / f"{shard:04d}.parquet", PairRow, rows)
    output = tmp_path / "words" / "words.txt"
    known_words.main(arguments(folder=folder, shards=2, output=output))
    return output


def test_the_words_that_references_hold(words):
    expected = ["Tom", "^So", "^The", "a", "cat", "does", "dog", "don"]
    expected += ["it", "look", "saw", "sees", "t", "the", "tone"]
    assert words.read_text("utf-8").split("\n") == [*expected, ""]
    assert known_words.read_words(words) == set(expected)
    record = json.loads(words.with_suffix(".json").read_text("utf-8"))
    assert (record["rows_in"], record["rows_out"], record["extra"]["words"]) == (4, 4, 15)


def test_words_that_were_changed_are_refused(words, tmp_path):
    words.write_text(words.read_text("utf-8") + "zzz\n", "utf-8")
    with pytest.raises(InputError, match=r"words\.txt differs from what its stage wrote"):
        column(tmp_path, "unknown_words", words=words)


@pytest.mark.slow
def test_words_make_a_column(words, tmp_path):
    # three, dogs; not, see; looks
    plain = column(tmp_path / "one", "unknown_words", language="pt", words=words)
    assert plain == [2, 2, 1]
    # For English the dictionary knows nouns, verbs, adjectives and adverbs besides.
    assert column(tmp_path / "three", "unknown_words", words=words) == [1, 0, 0]
    assert column(tmp_path / "two", "names", words=words) == [1, 0, 1]


def test_texts_alone_make_a_column(tmp_path):
    assert column(tmp_path / "one", "negation") == [1, 0, 1]
    assert column(tmp_path / "two", "numbers") == [0, 1, 1]
    assert column(tmp_path / "three", "length_ratio") == [1, 1.5, 1]


def test_the_language_of_the_references_decides(tmp_path):
    assert column(tmp_path / "one", "numbers", language="pt") == [1, 1, 1]
    assert column(tmp_path / "two", "negation", language="pt") == [None, None, None]


def test_gains_compare_with_the_score_of_the_reference(tmp_path):
    scores = write_table(tmp_path / "scores" / "0000.parquet", ReferenceScoreRow, SCORES)
    given = {"reference_scores": scores}
    assert column(tmp_path / "one", "forward_gain", **given) == [0.5, -0.5, 0.75]
    assert column(tmp_path / "two", "backward_gain", **given) == [None, None, 2.0]


class Grammar:
    """Takes longer sentences for better ones."""

    def log_odds(self, sentences):
        return np.array([len(each.split()) for each in sentences], np.float64)


def test_a_grammar_model_makes_a_column(monkeypatch, tmp_path):
    asked = []

    def load(model):
        asked.append(model)
        return Grammar()

    monkeypatch.setattr("workflow_scripts.stages.judge.load.Grammar.load", load)
    given = {"grammar": tmp_path / "grammar" / "model.json"}
    assert column(tmp_path / "one", "grammar", **given) == [4, 6, 3]
    assert column(tmp_path / "two", "grammar_gain") == [0, 2, 0]
    assert asked == [tmp_path / "grammar", "english"]  # of the run, and the one that ships


def test_references_without_a_score_are_told(tmp_path):
    scores = write_table(tmp_path / "scores" / "0000.parquet", ReferenceScoreRow, SCORES[:1])
    with pytest.raises(InputError, match=r"scores/0000\.parquet has no reference c:1; delete"):
        column(tmp_path, "forward_gain", reference_scores=scores)


@pytest.mark.slow
def test_an_encoder_makes_a_column(sentence_transformer, tmp_path):
    found = column(tmp_path, "cosine", config={"encoder": {"folder": str(sentence_transformer)}})
    model = load_encoder(sentence_transformer)
    for value, row in zip(found, PAIRS, strict=True):
        one, other = model.encode([row["reference"], row["paraphrase"]])
        expected = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
        assert value == pytest.approx(expected, abs=1e-5)


@pytest.mark.slow
def test_a_package_that_is_not_installed_ends_the_column_with_a_remedy(tmp_path):
    encoder = {"package": "no_such_encoder", "version": "1", "path": "model"}
    with pytest.raises(InputError, match=r"package no_such_encoder is not installed.*make setup"):
        column(tmp_path, "cosine", config={"encoder": encoder})
    assert not (tmp_path / "values" / "0000.parquet").exists()


def test_an_encoder_that_changed_since_the_plan_is_refused(sentence_transformer, tmp_path):
    path = str(sentence_transformer / "config.json")
    with pytest.raises(InputError, match=re.escape(f"{path} changed since the run was planned")):
        column(
            tmp_path,
            "cosine",
            config={"encoder": {"folder": str(sentence_transformer)}},
            inputs=json.dumps({path: "0" * 64}),
        )
