from xml.etree import ElementTree

from tests.unit.svg import texts
from workflow_scripts.stages.train.curve_plot import learning_curve

CURVE = [
    {
        "updates": 100 * n,
        "train_perplexity": 30 / n + 3,
        "validation_perplexity": 30 / n + abs(n - 4),
    }
    for n in range(1, 7)
]


def test_the_best_checkpoint_is_named():
    plot = learning_curve(CURVE, "forward")
    assert 'aria-label="forward: validation perplexity falls to 7.000"' in plot
    assert {"updates", "perplexity", "validation"} <= set(texts(plot))


def test_names_are_escaped():
    plot = learning_curve(CURVE, 'a<b" c')
    assert 'a<b" c' in texts(plot)
    assert ElementTree.fromstring(plot).get("aria-label").startswith('a<b" c: ')
