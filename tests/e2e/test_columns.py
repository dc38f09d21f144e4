"""Columns that are features of pairs or of an embedding of the run itself."""

import json

import numpy as np
import pytest

from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import (
    PairColumnsRow,
    PairRow,
    PairValueRow,
    ReferenceScoreRow,
    TrainingPairRow,
)
from workflow_scripts.core.text.text_tokens import known_words
from workflow_scripts.encoding.embedding import load

pytestmark = pytest.mark.e2e


def rows(whole, name, kind=PairValueRow):
    shards = sorted(whole.unit(name).glob("[0-9]*.parquet"))
    return [row for path in shards for row in read_rows(path, kind)]


def chosen(whole, training_set):
    path = whole.unit(f"filter.{training_set}-bt2017") / "pairs.parquet"
    return {(row["reference"], row["paraphrase"]) for row in read_rows(path, TrainingPairRow)}


@pytest.fixture
def pairs(whole):
    return rows(whole, "filter.bt2017", PairColumnsRow)


@pytest.fixture
def values(whole, pairs):
    names = ("unheard", "alike", "easier", "near")
    found = {name: rows(whole, f"filter.{name}-bt2017") for name in names}
    for column in found.values():
        assert [row["id"] for row in column] == [row["id"] for row in pairs]
    return {name: [row["value"] for row in column] for name, column in found.items()}


def test_features_bound_training_sets_and_stand_in_tables(whole, pairs, values):
    bitext = (row["reference"] for row in rows(whole, "dual_filter.kept", PairRow))
    words = whole.unit("generate.words") / "words.txt"
    assert set(words.read_text("utf-8").split()) == known_words(bitext)
    scored = rows(whole, "score.references", ReferenceScoreRow)
    references = {row["id"]: row for row in scored}
    for row, value in zip(pairs, values["easier"], strict=True):
        gain = references[row["id"]]["forward_nll"] - row["translation_cost"]
        assert value == pytest.approx(gain, abs=1e-5)
    heard = {
        (row["reference"], row["paraphrase"])
        for row, unheard, alike in zip(pairs, values["unheard"], values["alike"], strict=True)
        if unheard == 0 and alike is not None
    }
    assert 0 < len(heard) < len(pairs)
    assert chosen(whole, "heard") == heard
    statistics = whole.unit("evaluate.bt2017") / "statistics.json"
    figures = json.loads(statistics.read_text(encoding="utf-8"))
    assert {"score", "easier"} <= set(figures["columns"])
    assert [each["to"] for each in figures["bins"]["score"]] == [0.2, 0.4, 0.6, 0.8, 1.0]


def test_pairs_are_scored_and_chosen_by_an_embedding_of_the_run(whole, pairs, values):
    model = load(whole.unit("embed.tiny-half-bt2017-seed1"))
    for value, row in zip(values["near"], pairs, strict=True):
        one, other = model.encode([row["reference"], row["paraphrase"]])
        norms = np.linalg.norm(one) * np.linalg.norm(other)
        if norms == 0:
            assert value is None
        else:
            assert value == pytest.approx(one @ other / norms, abs=1e-5)
    close = chosen(whole, "close")
    scores = {True: [], False: []}
    for value, row in zip(values["near"], pairs, strict=True):
        scores[(row["reference"], row["paraphrase"]) in close].append(value)
    assert len(scores[True]) - len(scores[False]) in (0, 1)
    assert min(scores[True]) >= max(scores[False])
