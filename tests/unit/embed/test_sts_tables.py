import pytest

from tests.unit.embed.sts_example import QUOTED, STS, TRAINING_SETS
from workflow_scripts.stages.embed.sts_tables import (
    chosen_by,
    data_columns,
    data_set_rows,
    encoder_differences,
    gain_rows,
    matching,
    models,
    quotations,
    source_rows,
    training_set_blocks,
)

# JSON has sorted them by name.
SHUFFLED = {**STS, "embeddings": dict(sorted(STS["embeddings"].items()))}
FIGURES = quotations({"quoted": QUOTED})
MODELS = models(SHUFFLED, TRAINING_SETS, ["word", "trigram"])
NONE = {"count": 0, "mean": None, "deviation": None}


def test_models_come_in_the_order_of_their_numbers_where_none_is_configured():
    others_first = models(SHUFFLED, TRAINING_SETS)
    assert [model.embedding for model in others_first] == ["trigram", "word", "word", "word"]
    result = STS["embeddings"]["word-all-beam"]["seeds"]["1"]
    tenth = {f"word-x-beam-{n}": {"seeds": {"10": result, "2": result}} for n in ("1", "10", "2")}
    names = ["x-beam-1", "x-beam-2", "x-beam-10"]
    found = models({**STS, "embeddings": tenth}, names)
    assert [model.training_set for model in found] == names
    assert list(found[0].seeds) == ["2", "10"]


FOLDS = {"folds": {"column": "overlap_1", "of": 10, "keep": [9, 10]}, "bounds": {"sum": [None, 1]}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "all pairs"),
        (
            {"sample": 1000, "bounds": {"sum": [1, None], "told": [None, None]}},
            "sum ≥ 1; told known; 1,000 pairs at most",
        ),
        (FOLDS, "sum ≤ 1; part 9, 10 of 10 by overlap_1"),
        (FOLDS | {"first": "folds"}, "part 9, 10 of 10 by overlap_1; sum ≤ 1"),
        ({"corpora": ["news", "web"], "sample": 9}, "of news, web; 9 pairs at most"),
        ({"ranks": 1}, "the best of each reference"),
        ({"ranks": 3}, "number 3 of each reference"),
        ({"ranks": [1, 5]}, "paraphrase 1 with paraphrase 5 of each reference"),
    ],
)
def test_how_a_training_set_is_chosen_is_said(changes, said):
    assert chosen_by(TRAINING_SETS["all-beam"]["config"] | changes) == said


def test_rows_of_a_block_keep_their_order_whichever_embedding_has_them():
    result = STS["embeddings"]["word-all-beam"]
    names = ("lstm-cost-beam-2", "word-cost-beam-1", "word-cost-beam-2")
    found = models({**STS, "embeddings": dict.fromkeys(names, result)}, TRAINING_SETS)
    (block,) = training_set_blocks(found, TRAINING_SETS)
    assert [row["name"] for row in block["rows"]] == ["cost-beam-1", "cost-beam-2"]
    assert block["embeddings"] == ["lstm", "word"]


def test_embeddings_differ_on_sick_where_there_is_no_data_set_of_the_paper():
    other = {**STS, "pairs": {"sick.test": 4927}}
    assert encoder_differences(other, MODELS)[0]["difference"] == 20.0


def test_means_over_sources_are_of_sets_that_differ_in_nothing_else():
    """Wieting et al. (2017), Table 5: averaged over data sources."""
    settings = {**TRAINING_SETS["all-beam"]["config"], "bounds": {"sum": [1, 2]}}
    sets = {name: {"config": {**settings, "corpora": [name]}} for name in TRAINING_SETS}
    first, *_ = source_rows({**STS, "tuned": []}, MODELS, sets)
    assert first == {
        **{"grid": "cost-beam", "embedding": "word", "chosen_by": "sum 1 to 2", "sources": 2},
        **{"mean": (65.0 + 50.0) / 2, "bt2017": (65.0 + 50.0) / 2, "best": None},
    }
    assert source_rows(STS, MODELS, TRAINING_SETS) == []
    # An entry with corpora of its own is one source, tuned or not.
    assert source_rows(STS, MODELS[:1], sets) == []


def test_figures_are_quoted_of_the_same_data_alone():
    assert [each["pearson"] for each in matching(FIGURES, STS, ["2012", "2013", "2014"])] == [66.6]
    assert [each["pearson"] for each in matching(FIGURES, STS, ["2012.MSRvid"])] == [33.3]
    whole = {**STS, "missing": []}
    assert [each["pearson"] for each in matching(FIGURES, whole, ["2013"])] == [55.5]


def test_nothing_to_test_on():
    nothing = {
        "bt2017": {"pearson": None, "spearman": None, "data_sets": 0},
        "mean": {"pearson": None, "spearman": None, "by_group": {}},
        "all": {"n": 0, "pearson": 0.0, "spearman": 0.0},
    }
    figures = {
        "trained": nothing,
        "untrained": nothing,
        "gain": dict.fromkeys(("untrained", "overlap")),
    }
    sts = {
        **{"tuned": [], "development": {}},
        **{"pairs": {}, "missing": [], "overlap": nothing, "baselines": {}},
        "embeddings": {"word-all-beam": {"seeds": {"1": figures}}},
    }
    found = models(sts, TRAINING_SETS)
    (block,) = training_set_blocks(found, TRAINING_SETS)
    assert block["rows"][0]["cells"]["word"] == {"trained": NONE, "untrained": NONE}
    assert data_columns(sts) == []
    assert data_set_rows(sts, found, FIGURES)["trained"][0]["cells"] == {"mean": NONE}
    assert encoder_differences(sts, [*found, *found])[0]["difference"] is None
    assert gain_rows(found)[0]["untrained"] is None
    assert quotations({}) == quotations({"quoted": {}}) == []
