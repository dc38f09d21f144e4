import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.stages.filter.folds import Folds

few = st.sampled_from([-1.5, 0.0, -0.0, 0.25, 3.0])
numbers = st.lists(few | st.floats(-5, 5, width=32), max_size=40)


@pytest.mark.slow
@settings(deadline=None)
@given(numbers, st.integers(2, 12), st.integers(1, 5))
def test_parts_are_those_of_a_stable_sort(values, of, batches):
    values = np.array(values, np.float32)
    expected = np.zeros(len(values), np.int64)
    for part in range(1, of + 1):
        ends = len(values) * (part - 1) // of, len(values) * part // of
        expected[np.argsort(values, kind="stable")[slice(*ends)]] = part
    arrays = np.array_split(values, batches)
    folds = Folds(lambda: iter(arrays), of)
    for _ in range(2):
        parts = folds.stream()
        assert np.concatenate([parts(array) for array in arrays]).tolist() == expected.tolist()
