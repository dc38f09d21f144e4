from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.stages.filter import ngrams
from workflow_scripts.stages.filter.ngrams import ORDERS, count
from workflow_scripts.stages.filter.token_numbers import Tokens

numbers = st.integers(0, 4) | st.integers(0, 100_000)
pairs = st.lists(st.tuples(st.lists(numbers, max_size=9), st.lists(numbers, max_size=9)))


def tokens(sentences):
    flat = [token for each in sentences for token in each]
    return Tokens(np.array(flat, np.int64), np.array(list(map(len, sentences)), np.int64))


def counted(pairs):
    return count(tokens([first for first, _ in pairs]), tokens([second for _, second in pairs]))


def bag(sentence, order):
    return Counter(tuple(sentence[i : i + order]) for i in range(len(sentence) - order + 1))


def expected(pairs):
    """Shared, first and second of each pair and order, by counting."""
    return [
        [(one & other).total(), one.total(), other.total()]
        for first, second in pairs
        for order in range(1, ORDERS + 1)
        for one, other in [(bag(first, order), bag(second, order))]
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "value"), [(None, 0), ("_BITS", ORDERS * 6 + 2), ("_RUN", 2)])
@settings(deadline=None)
@given(pairs)
def test_they_are_those_of_multisets_whatever_fits_at_once(limit, value, pairs):
    with pytest.MonkeyPatch.context() as patch:
        if limit:
            patch.setattr(ngrams, limit, value)
        assert np.stack(counted(pairs), axis=-1).reshape(-1, 3).tolist() == expected(pairs)


def test_limits_of_one_pair():
    words = list(range(32_766))
    assert counted([(words, words[::-1])]).shared.tolist() == [[32_766, 0, 0, 0]]
    with pytest.raises(ValueError, match="32767 different tokens; 32,766 fit"):
        counted([([*words, 32_766], [])])
