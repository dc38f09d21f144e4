import numpy as np
import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.testbed import graded
from workflow_scripts.testbed.checker import Checker
from workflow_scripts.testbed.graded import graded_pairs
from workflow_scripts.testbed.similarity import similarity


@pytest.fixture(scope="module")
def pairs():
    return list(graded_pairs(1, 1000, 150))


@pytest.mark.slow
def test_scores_are_the_similarities_of_what_the_sentences_mean(pairs):
    checker = Checker()
    for score, first, second in pairs[:40]:
        options = {
            round(5 * similarity(one, other), 3)
            for one in checker.parse(first)
            for other in checker.parse(second)
        }
        assert score in options, (score, first, second)


def test_scores_spread_over_the_scale(pairs):
    scores = np.array([score for score, _, _ in pairs])
    assert scores.min() < 0.5
    assert scores.max() == 5.0
    shares = np.histogram(scores, bins=5, range=(0, 5))[0] / len(scores)
    assert shares.min() > 0.04


@pytest.mark.slow
def test_a_pair_depends_on_the_seed_and_its_number(pairs):
    assert list(graded_pairs(1, 1000, 150)) == pairs
    assert list(graded_pairs(2, 1000, 150)) != pairs


@pytest.mark.slow
def test_writes_an_sts_data_set(pairs, tmp_path):
    output = tmp_path / "graded.tsv"
    graded.main(["--first", "1000", "--count", "150", "--output", str(output)])
    lines = output.read_text(encoding="utf-8").splitlines()
    assert lines == ["\t".join(map(str, pair)) for pair in pairs]


@pytest.mark.parametrize(("first", "count"), [(-1, 5), (0, 1), (10**9, 5)])
def test_a_range_without_meanings_is_an_error(first, count):
    with pytest.raises(InputError, match="meanings from 0"):
        list(graded_pairs(1, first, count))
