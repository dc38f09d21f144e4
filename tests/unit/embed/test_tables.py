from dataclasses import replace

import pytest

from tests.unit.embed.sts_example import QUOTED, STS
from workflow_scripts.stages.embed import tables


@pytest.fixture(scope="module")
def run(made_up_run, embedded):
    entries = [{"name": name} for name in ("word", "trigram")]
    config = {**made_up_run.config, "quoted": QUOTED, "embeddings": entries}
    return replace(made_up_run, config=config).finished(more=embedded)


def as_rows(table):
    return table.frame().to_dict("records")


def test_a_row_for_each_embedding_and_training_set(run):
    first, *_, last = as_rows(tables.sts(run))
    assert first == {
        **{"training_set": "cost-beam-1", "system": "beam", "pairs": 1200, "embedding": "word"},
        "chosen_by": "rank 1 to 2; sum ≤ 3.5; part 1 of 2 by translation_cost",
        **{"seeds": 2, "trained_pearson": 65.0, "trained_pearson_deviation": 7.0711},
        **{"trained_spearman": 55.0, "trained_spearman_deviation": 7.0711},
        **{"untrained_pearson": 40.0, "untrained_pearson_deviation": 0.0},
        **{"untrained_spearman": 30.0, "untrained_spearman_deviation": 0.0},
        **{"overlap_pearson": 60.0, "overlap_spearman": 50.0},
    }
    assert (last["embedding"], last["trained_pearson_deviation"]) == ("trigram", None)


def test_every_data_set_year_and_mean_with_what_others_reached(run):
    found = as_rows(tables.sts_data_sets(run))
    data = list(dict.fromkeys(row["data"] for row in found))
    assert data == [*STS["pairs"], "2012", "2013", "bt2017", "mean"]
    kinds = [row["kind"] for row in found if row["data"] == "2012"]
    assert kinds == ["overlap", "bleu", "meteor", *["trained", "untrained"] * 4, "quoted"]
    quoted = {(row["data"], row["embedding"]): row for row in found if row["kind"] == "quoted"}
    assert {key: row["pearson"] for key, row in quoted.items()} == {
        ("2012.MSRvid", "Theirs"): 33.3,
        ("sick.test", "Theirs"): 77.7,
        ("sick.test", "Others"): 88.8,
        ("2012", "Theirs"): 66.6,
    }
    assert quoted["2012", "Theirs"]["source"] == "Doe 2020, Table 1"
    trained = next(row for row in found if (row["data"], row["kind"]) == ("sick.test", "trained"))
    assert (trained["pairs"], trained["pearson"], trained["spearman"]) == (4927, 70.0, 60.0)


def test_differences_between_embeddings(run):
    """ParaNMT-50M, Table 10: 50, 80 and 60 (means of two seeds) beside 90 each, without SICK."""
    assert as_rows(tables.sts_encoder_differences(run)) == [
        {
            **{"training_set": "cost-beam-1", "first": "word", "second": "trigram"},
            **{"data_sets": 3, "difference": 26.6667},
        }
    ]


def test_points_of_a_grid(run):
    first, second, third = as_rows(tables.sts_tuned(run))
    assert first["chosen"] == third["chosen"] == 0
    assert first["pearson"] is first["pearson_bt2017"] is first["bt2017_data_sets"] is None
    assert second == {
        **{"grid": "cost-beam", "embedding": "word", "training_set": "cost-beam-2"},
        "chosen_by": "part 2 of 2 by translation_cost; 2,000,000 words at most",
        **{"pairs": 1201, "development": 42.0, "chosen": 1, "pearson": 50.0},
        **{"pearson_deviation": None, "pearson_bt2017": 50.0, "bt2017_data_sets": 4},
    }


def test_gains_over_both(run):
    found = as_rows(tables.sts_gains(run))
    assert [row["seed"] for row in found] == [*"1122111111"]
    assert found[1] == {
        **{"embedding": "word", "training_set": "cost-beam-1", "seed": "1", "over": "overlap"},
        **{"pearson": -5.0, "low": -10.0, "high": 25.1},
    }


def test_differences_between_training_sets(run):
    found = as_rows(tables.sts_differences(run))
    pair = {"embedding": "word", "first": "cost-beam-1"}
    assert found == [
        {**pair, "second": "cost-beam-2", "pearson": -15.0, "low": -20.12, "high": 1.0},
        {**pair, "second": "all-beam", "pearson": None, "low": None, "high": None},
    ]
