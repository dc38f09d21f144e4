import pytest

from tests.unit.svg import check_plot, texts
from workflow_scripts.evaluate import plots

SCORES = {
    "width": 0.1,
    "forward": [0, 3, 9, 4] + [0] * 97,
    "backward": [1, 2] + [0] * 99,
    "sum": [0] * 20 + [5] + [0] * 79 + [2],
}
RANK = {"one_minus_bleu": 40.0, "interval": {"low": 35.0, "high": 44.0}}


def draw(kind):
    if kind == "scores":
        return plots.score_histogram(SCORES, 3.5, "beam")
    return plots.ranks({"all": {"beam": [RANK | {"rank": 1}, RANK | {"rank": 2}]}})


@pytest.mark.parametrize("kind", ["scores", "ranks"])
def test_every_plot(kind):
    check_plot(draw(kind))
    assert draw(kind) == draw(kind)


def test_threshold():
    assert "threshold 3.5" in texts(draw("scores"))
    without = plots.score_histogram(SCORES, None, "beam")
    assert not any("threshold" in text for text in texts(without))
