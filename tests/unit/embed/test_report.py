from dataclasses import replace

import pytest

from tests.unit.embed.sts_example import QUOTED
from tests.unit.pages import Reader, captioned, rows_of
from workflow_scripts.plan.schema import defaults

MODEL, TRAINING = defaults("embedding_model"), defaults("embedding_training")
SETTINGS = [
    {"name": "word", "model": MODEL, "training": TRAINING | {"mega_batch": 20}},
    {"name": "trigram", "model": MODEL | {"encoders": ["trigram"]}, "training": TRAINING},
]


@pytest.fixture(scope="module")
def embeddings(made_up_run, embedded):
    config = {**made_up_run.config, "quoted": QUOTED, "embeddings": SETTINGS}
    run = replace(made_up_run, config=config)
    section = run.section("workflow_scripts.stages.embed.report:embeddings", more=embedded)
    reader = Reader(section)
    assert reader.faults == [] and reader.ids == ["embeddings"]
    return section


@pytest.mark.slow
def test_embeddings_by_training_set(embeddings):
    head, below, first, second, overlap = rows_of(captioned(embeddings, "cost (as ParaBank 2"))
    assert head == ["training set", "system", "chosen by", "pairs", "word", "trigram"]
    assert below == ["untrained", "trained"] * 2
    said = "rank 1 to 2; sum ≤ 3.5; part 1 of 2 by translation_cost"
    assert first == [
        *("cost-beam-1", "beam", said, "1,200", "40.0 ± 0.0", "65.0 ± 7.1", "40.0", "90.0")
    ]
    assert second[3:] == ["1,201", "40.0", "50.0", "", ""]
    assert overlap == ["word overlap", "", "", "", "", "60.0", "", "60.0"]
    assert rows_of(captioned(embeddings, "all (as ParaBank 2"))[0][4:] == ["word"]
    assert rows_of(captioned(embeddings, "The embeddings"))[1][:2] == ["word", "word"]
    assert "20 x 100" in embeddings
    assert "Data sets: 4, with 6,616 pairs" in embeddings
    assert "these are missing: 2013.headlines, 2013.OnWN" in embeddings


def test_embeddings_by_data_set_with_quoted_figures(embeddings):
    table = rows_of(captioned(embeddings, "Years of SemEval"))
    assert table[0] == [
        "embedding",
        "training set",
        "2012",
        "2013",
        "sick.test",
        "4 of the 22",
        "mean",
    ]
    assert table[1] == ["word overlap", "", "60.0", "60.0", "60.0", "60.0", "60.0"]
    assert [[row[0], *row[2:]] for row in table[2:4]] == [
        ["BLEU", *["30.0"] * 5],
        ["METEOR-like", *["40.0"] * 5],
    ]
    assert [row[0] for row in table[4:8]] == ["word", "word", "word", "trigram"]
    assert table[4][3:] == ["60.0 ± 14.1", "70.0 ± 0.0", "65.0 ± 7.1", "65.0 ± 7.1"]
    assert table[-2] == ["Theirs", "quoted: Doe 2020, Table 1", "66.6", "", "77.7", "", ""]
    assert (
        "Of the 22</em> test sets of Wieting et al. (2017), 4 are among the missing" in embeddings
    )


def test_chosen_points_of_grids(embeddings):
    head, word, trigram = rows_of(captioned(embeddings, "The points that were chosen"))
    assert head[-2:] == ["test sets", "4 of the 22"]
    said = "part 2 of 2 by translation_cost; 2,000,000 words at most"
    assert word == ["cost-beam", "word", said, "2", "1,201", "42.0", "50.0", "50.0"]
    assert trigram[2:4] == ["none: no point has pairs", "1"]
    assert "2016.headlines (249 pairs)" in embeddings
    points = rows_of(captioned(embeddings, "All points, on the development data"))
    assert [row[0] for row in points[1:]] == ["cost-beam-1", "cost-beam-2", "cost-beam-1"]


def test_differences_between_embeddings(embeddings):
    rows = rows_of(captioned(embeddings, "Two embeddings on the same training set"))
    assert rows[1] == ["cost-beam-1", "word", "trigram", "26.67"]


def test_gains_with_their_intervals(embeddings):
    row = rows_of(captioned(embeddings, "Mean Pearson's r x 100 of the trained"))[1]
    expected = ["20.0 15.0 to 25.1", "\u22125.0 \u221210.0 to 25.1"]
    assert row == ["word", "cost-beam-1", "1", *expected]


def test_differences_between_training_sets_with_their_intervals(embeddings):
    first, second = rows_of(captioned(embeddings, "Mean Pearson's r x 100 of the embedding"))[1:]
    assert first == ["word", "cost-beam-1", "cost-beam-2", "\u221215.0 \u221220.1 to 1.0"]
    assert second[:3] == ["word", "cost-beam-1", "all-beam"]
