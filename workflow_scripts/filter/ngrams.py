"""Shared n-grams of many pairs of sentences at once, counted exactly."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.filter.tokens import Tokens

ORDERS = 4
_BITS = 63  # of a non-negative int64

Integers = NDArray[np.int64]


class Counts(NamedTuple):
    """What overlap and BLEU are made of, for n = 1 to 4.

    Attributes:
        shared: shape (pairs, 4), the n-grams of both sides as multisets: each as often as the side
            that has it less often.
        first, second: shape (pairs, 4), all n-grams of either side.
    """

    shared: Integers
    first: Integers
    second: Integers


def count(first: Tokens, second: Tokens) -> Counts:
    """Count the n-grams of pairs: sentence i of `first` with sentence i of `second`.

    Raises:
        ValueError: a pair has more than 32,768 different tokens.
    """
    totals = (np.maximum(side.lengths[:, None] - np.arange(ORDERS), 0) for side in (first, second))
    return Counts(_shared(first, second), *totals)


def _shared(first: Tokens, second: Tokens) -> Integers:
    """Return shape (pairs, 4): shared n-grams.

    An n-gram is one integer: its pair, its tokens, and in the last bit its side. Sorted, equal
    ones of both sides are neighbours. Where 63 bits are too few, each half of the pairs is counted
    by itself.
    """
    pairs = len(first.lengths)
    numbers = _renumbered(np.concatenate([first.ids, second.ids]))
    width = int(numbers.max(initial=0)).bit_length()
    if ORDERS * width + pairs.bit_length() + 1 > _BITS:
        if pairs == 1:
            raise ValueError(f"a pair has {int(numbers.max()) + 1} different tokens; 32,768 fit")
        middle = pairs // 2
        halves = (slice(None, middle), slice(middle, None))
        return np.concatenate([_shared(first.part(half), second.part(half)) for half in halves])
    owners = np.repeat(
        np.arange(2 * pairs), np.concatenate([first.lengths, second.lengths])
    )  # sentences; those of the second side come last
    second_side = owners >= pairs
    ngrams = owners - pairs * second_side
    result = np.zeros((pairs, ORDERS), np.int64)
    for order in range(1, ORDERS + 1):
        places = max(len(numbers) - order + 1, 0)
        ngrams = (ngrams[:places] << width) | numbers[order - 1 :]
        inside = owners[:places] == owners[order - 1 :]
        found = ((ngrams << 1) | second_side[:places])[inside]
        if not len(found):
            break
        found.sort()
        sides, found = found & 1, found >> 1
        starts = np.flatnonzero(np.concatenate([[True], found[1:] != found[:-1]]))
        in_second = np.add.reduceat(sides, starts)
        in_first = np.diff(np.append(starts, len(found))) - in_second
        shared = np.minimum(in_first, in_second)
        matched = np.flatnonzero(shared)
        pair = found[starts[matched]] >> (order * width)
        result[:, order - 1] = np.bincount(pair, shared[matched], minlength=pairs)
    return result


def _renumbered(ids: Integers) -> Integers:
    """Return numbers from 0 that are equal where `ids` are: as few bits as possible."""
    different = np.unique(ids)
    numbers = np.empty(int(different[-1]) + 1 if len(different) else 0, np.int64)
    numbers[different] = np.arange(len(different))
    return numbers[ids]
