import numpy as np
import pytest

from workflow_scripts.core.statistics.rank_correlation import spearman


def test_rank_correlation():
    first = np.array([0.1, 0.4, 0.4, 0.9, np.nan])
    assert spearman(first, first**3) == pytest.approx(1)
    assert spearman(first, -first) == pytest.approx(-1)
    # Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4.
    assert spearman(first, np.array([1.0, 3, 2, 7, 5])) == pytest.approx(0.9486832981)
    assert spearman(first, np.ones(5)) is None
    assert spearman(first[4:], first[:1]) is None
