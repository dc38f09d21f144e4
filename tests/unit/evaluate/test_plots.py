import pytest

from tests.unit.svg import check_plot, texts
from workflow_scripts.stages.evaluate import plots

SCORES = {
    "width": 0.1,
    "forward": [0, 3, 9, 4] + [0] * 97,
    "backward": [1, 2] + [0] * 99,
    "sum": [0] * 20 + [5] + [0] * 79 + [2],
}
RANK = {"one_minus_bleu": 40.0, "interval": {"low": 35.0, "high": 44.0}}


BOUNDS = {
    "beam": {
        "used": 2.0,
        "references": 5,
        "candidates": 10,
        "bounds": [
            {"max_sum": 1.0, "kept": 0, "references": 0, "one_minus_bleu": None},
            {"max_sum": 2.0, "kept": 10, "references": 5, "one_minus_bleu": 60.0},
        ],
    }
}
QUANTILES = [
    {"quantile": 0.25, "max_sum": 0.99},
    {"quantile": 0.5, "max_sum": 1.0},
    {"quantile": 0.75, "max_sum": 1.8},
    {"quantile": 0.95, "max_sum": None},
]


POINT = {"covered": 4, "paraphrases": 9, "expected_good": 60.0}
PRECISION = {
    "references": 5,
    "bounds": [
        POINT | {"probability": 0.1},
        {"probability": 0.2, "covered": 0, "paraphrases": 0, "expected_good": None},
    ],
    "used": POINT | {"probability": None},
}


def draw(kind):
    if kind == "precision":
        return plots.precision({"judged": PRECISION})
    if kind == "bounds":
        return plots.bounds(BOUNDS, QUANTILES)
    if kind == "scores":
        return plots.score_histogram(SCORES, 3.5, "beam")
    return plots.ranks({"all": {"beam": [RANK | {"rank": 1}, RANK | {"rank": 2}]}})


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["scores", "ranks", "bounds", "precision"])
def test_every_plot(kind):
    check_plot(draw(kind))
    assert draw(kind) == draw(kind)


@pytest.mark.slow
def test_what_the_plots_tell():
    found = texts(draw("precision"))
    assert ".1" in found and ".2" not in found
    check_plot(plots.precision({"none": {"references": 0, "bounds": [], "used": POINT}}))
    assert "threshold 3.5" in texts(draw("scores"))
    without = plots.score_histogram(SCORES, None, "beam")
    assert not any("threshold" in text for text in texts(without))


@pytest.mark.slow
def test_bounds_mark_the_quantiles_of_the_references():
    found = texts(draw("bounds"))
    assert found.count("50 %") == found.count("75 %") == 2  # in each panel
    # A label has no room so near to that of the median; the last quantile has no bound.
    assert "25 %" not in found
    assert "95 %" not in found
    assert "beam" in found


@pytest.mark.slow
@pytest.mark.parametrize("quantiles", [QUANTILES, [{"quantile": 0.5, "max_sum": None}]])
def test_bounds_without_candidates(quantiles):
    empty = {"used": None, "references": 0, "candidates": 0}
    empty["bounds"] = [BOUNDS["beam"]["bounds"][0]]
    check_plot(plots.bounds({"beam": empty}, quantiles))
