"""Shared n-grams of many pairs of sentences at once, counted exactly."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.stages.filter.token_numbers import Tokens

ORDERS = 4
_BITS = 63  # of a non-negative int64
_RUN = 1024  # pairs that seldom have too many different words for these bits

Integers = NDArray[np.int64]


class Counts(NamedTuple):
    """What overlap and BLEU are made of, for n = 1 to 4.

    Attributes:
        shared: shape (pairs, 4), the n-grams that both sides have. An n-gram counts as often as
            it occurs on the side that has it less often.
        first, second: shape (pairs, 4), all n-grams of either side.
    """

    shared: Integers
    first: Integers
    second: Integers


def count(first: Tokens, second: Tokens) -> Counts:
    """Count the n-grams of pairs: sentence i of `first` with sentence i of `second`.

    Raises:
        ValueError: a pair has more than 32,766 different tokens.
    """
    totals = (np.maximum(side.lengths[:, None] - np.arange(ORDERS), 0) for side in (first, second))
    runs = [slice(start, start + _RUN) for start in range(0, len(first.lengths), _RUN)]
    shared = [_shared(first.run(run), second.run(run)) for run in runs]
    return Counts(np.concatenate([np.zeros((0, ORDERS), np.int64), *shared]), *totals)


def _shared(first: Tokens, second: Tokens) -> Integers:
    """Return shape (pairs, 4): shared n-grams.

    At each token a window of four begins, which is one integer: its pair, its tokens, and in the
    last bit its side. Sorted, all windows that begin with the same n-gram stand together, whatever
    n is. After each sentence stands a number that the other side does not have, so that no n-gram
    across sentences is shared. Where 63 bits are too few, each half of the pairs is counted by
    itself.
    """
    pairs = len(first.lengths)
    ids, different = _renumbered(np.concatenate([first.ids, second.ids]))
    width = (different + 1).bit_length()
    if ORDERS * width + max(pairs - 1, 0).bit_length() + 1 > _BITS:
        if pairs == 1:
            raise ValueError(f"a pair has {different} different tokens; {2**15 - 2:,} fit")
        middle = pairs // 2
        halves = (slice(None, middle), slice(middle, None))
        return np.concatenate([_shared(first.run(half), second.run(half)) for half in halves])
    lengths = np.concatenate([first.lengths, second.lengths])
    owners = np.repeat(np.arange(2 * pairs), lengths + 1)  # those of the second side come last
    sides = (owners >= pairs).astype(np.int64)
    numbers = different + sides  # where a sentence ends; the others follow
    numbers[np.arange(len(ids)) + np.repeat(np.arange(2 * pairs), lengths)] = ids
    following = np.concatenate([numbers, np.zeros(ORDERS - 1, np.int64)])
    windows = owners - pairs * sides
    for order in range(ORDERS):
        windows = (windows << width) | following[order : order + len(numbers)]
    windows = (windows << 1) | sides
    windows.sort()
    return _shared_beginnings(windows, width, pairs)


def _shared_beginnings(windows: Integers, width: int, pairs: int) -> Integers:
    """Return what `_shared` does, of its sorted windows; `width` is the bits of a token."""
    # From 1 up where the windows before and at a place differ, the higher the earlier in them.
    changes = np.empty_like(windows)
    changes[:1], changes[1:] = np.iinfo(np.int64).max, windows[1:] ^ windows[:-1]
    seconds = np.concatenate([[0], np.cumsum(windows & 1)])  # of the second side, up to a place
    result = np.zeros((pairs, ORDERS), np.int64)
    begins = np.flatnonzero(changes >= 2)
    for order in range(ORDERS, 0, -1):
        if order < ORDERS:  # a group of equal n-grams is one of longer ones, or several
            begins = begins[changes[begins] >= 1 << (1 + (ORDERS - order) * width)]
        sizes = np.diff(begins, append=len(windows))
        several = np.flatnonzero(sizes > 1)
        start, size = begins[several], sizes[several]
        second = seconds[start + size] - seconds[start]
        owners = windows[start] >> (1 + ORDERS * width)
        shared = np.minimum(second, size - second)
        result[:, order - 1] = np.bincount(owners, shared, pairs)
    return result


def _renumbered(ids: Integers) -> tuple[Integers, int]:
    """Return numbers from 0 that are equal where `ids` are, and how many different ones.

    Without sorting: of equal ids, one place stays in the table.
    """
    table = np.empty(int(ids.max(initial=-1)) + 1, np.int64)
    places = np.arange(len(ids))
    table[ids] = places
    different = ids[table[ids] == places]
    table[different] = places[: len(different)]
    return table[ids], len(different)
