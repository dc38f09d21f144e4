import re
from xml.etree import ElementTree

import pytest

from workflow_scripts.release import plots

SVG = "{http://www.w3.org/2000/svg}"
CURVE = [
    {
        "updates": 100 * n,
        "train_perplexity": 30 / n + 3,
        "validation_perplexity": 30 / n + abs(n - 4),
    }
    for n in range(1, 7)
]
SCORES = {
    "width": 0.1,
    "forward": [0, 3, 9, 4] + [0] * 97,
    "backward": [1, 2] + [0] * 99,
    "sum": [0] * 20 + [5] + [0] * 79 + [2],
}
RANK = {"one_minus_bleu": 40.0, "interval": {"low": 35.0, "high": 44.0}}


def draw(kind):
    if kind == "curve":
        return plots.learning_curve(CURVE, "forward")
    if kind == "scores":
        return plots.score_histogram(SCORES, 3.5, "beam")
    return plots.ranks({"all": {"beam": [RANK | {"rank": 1}, RANK | {"rank": 2}]}})


@pytest.mark.parametrize("kind", ["curve", "scores", "ranks"])
def test_every_plot(kind):
    text = draw(kind)
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert draw(kind) == text
    assert "currentColor" in text
    assert "<style" not in text
    assert "<metadata" not in text
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    targets = set(re.findall(r'(?:url\(|href=")#([\w.-]+)', text))
    assert targets <= set(ids)


def texts(plot):
    return [
        "".join(element.itertext()) for element in ElementTree.fromstring(plot).iter(f"{SVG}text")
    ]


def test_the_best_checkpoint_is_named():
    assert 'aria-label="forward: validation perplexity falls to 7.000"' in draw("curve")
    assert {"updates", "perplexity", "validation"} <= set(texts(draw("curve")))


def test_threshold():
    assert "threshold 3.5" in texts(draw("scores"))
    without = plots.score_histogram(SCORES, None, "beam")
    assert not any("threshold" in text for text in texts(without))


def test_names_are_escaped():
    plot = plots.learning_curve(CURVE, 'a<b" c')
    assert 'a<b" c' in texts(plot)
    assert ElementTree.fromstring(plot).get("aria-label").startswith('a<b" c: ')
