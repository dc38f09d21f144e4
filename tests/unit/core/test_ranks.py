import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.core.statistics.order_statistics import order_statistics
from workflow_scripts.core.statistics.rank_correlation import spearman

floats = st.floats(allow_nan=False, width=32)


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.lists(floats, max_size=6), min_size=1, max_size=5), st.data())
def test_they_are_those_of_the_sorted_numbers(parts, data):
    everything = sorted(np.float32(value) for part in parts for value in part)
    if everything:
        ranks = data.draw(st.lists(st.integers(1, len(everything)), min_size=1, max_size=4))
        arrays = [np.array(part, np.float32) for part in parts]
        found = order_statistics(lambda: iter(arrays), ranks)
        assert found == [everything[rank - 1] for rank in ranks]


@pytest.mark.parametrize("size", [1, 2, 10_007])
def test_tenths_equal_those_of_numpy(size):
    values = np.random.default_rng(size).normal(0, 3, size).astype(np.float32).round(3)
    ranks = [-(-size * tenth // 10) for tenth in range(1, 11)]
    found = order_statistics(lambda: np.array_split(values, 3), ranks)
    assert found == np.sort(values)[np.array(ranks) - 1].tolist()


def test_rank_correlation():
    first = np.array([0.1, 0.4, 0.4, 0.9, np.nan])
    assert spearman(first, first**3) == pytest.approx(1)
    assert spearman(first, -first) == pytest.approx(-1)
    # Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4.
    assert spearman(first, np.array([1.0, 3, 2, 7, 5])) == pytest.approx(0.9486832981)
    assert spearman(first, np.ones(5)) is None
    assert spearman(first[4:], first[:1]) is None
