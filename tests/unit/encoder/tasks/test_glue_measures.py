import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from workflow_scripts.stages.encoder.tasks.glue_measures import MEASURES, f1, measured

GOLD = np.array([1, 1, 1, 0, 0], float)
FOUND = np.array([1, 0, 1, 1, 0], float)


def test_by_hand():
    """Two of three found paraphrases are right, and two of three are found; 3 of 5 are right."""
    rows = {"gold": GOLD, "predicted": FOUND}
    assert measured(rows, ("f1", "accuracy")) == pytest.approx({"f1": 2 / 3, "accuracy": 0.6})


def test_f1_is_that_of_paraphrases_and_not_of_the_other_class():
    assert f1(GOLD, FOUND) != f1(1 - GOLD, 1 - FOUND)
    assert f1(1 - GOLD, 1 - FOUND) == 0.5


def test_figures_are_those_of_libraries():
    random = np.random.default_rng(1)
    gold, found = random.integers(0, 2, (2, 50)).astype(float)
    assert MEASURES["f1"](gold, found) == pytest.approx(metrics.f1_score(gold, found))
    assert MEASURES["accuracy"](gold, found) == metrics.accuracy_score(gold, found)
    scores, answers = random.integers(0, 6, 50).astype(float), random.normal(size=50)
    assert MEASURES["pearson"](scores, answers) == pytest.approx(stats.pearsonr(scores, answers)[0])
    assert MEASURES["spearman"](scores, answers) == pytest.approx(
        stats.spearmanr(scores, answers)[0]
    )


@pytest.mark.parametrize("name", ["pearson", "spearman"])
def test_what_does_not_vary_has_no_correlation(name):
    assert MEASURES[name](np.array([1.0, 2.0]), np.array([3.0, 3.0])) == 0.0


def test_no_paraphrase_there_and_none_found_is_0():
    assert f1(np.zeros(3), np.zeros(3)) == 0.0
