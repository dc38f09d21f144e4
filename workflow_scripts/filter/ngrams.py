"""Shared n-grams of many pairs of sentences at once, counted exactly."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.filter.tokens import Tokens

ORDERS = 4
_BITS = 63  # of a non-negative int64
_RUN = 1024  # pairs that seldom have too many different words for so many bits

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
        ValueError: a pair has more than 32,766 different tokens.
    """
    totals = (np.maximum(side.lengths[:, None] - np.arange(ORDERS), 0) for side in (first, second))
    runs = [slice(start, start + _RUN) for start in range(0, len(first.lengths), _RUN)]
    shared = [_shared(first.part(run), second.part(run)) for run in runs]
    return Counts(np.concatenate([np.zeros((0, ORDERS), np.int64), *shared]), *totals)


def _shared(first: Tokens, second: Tokens) -> Integers:
    """Return shape (pairs, 4): shared n-grams.

    An n-gram is one integer: its pair, its tokens, and in the last bit its side. Sorted, equal
    ones of both sides are neighbours. After each sentence stands a number that the other side
    does not have, so that no n-gram across sentences is shared. Where 63 bits are too few, each
    half of the pairs is counted by itself.
    """
    pairs = len(first.lengths)
    ids = _renumbered(np.concatenate([first.ids, second.ids]))
    different = int(ids.max(initial=-1)) + 1
    width = (different + 1).bit_length()
    if ORDERS * width + max(pairs - 1, 0).bit_length() + 1 > _BITS:
        if pairs == 1:
            raise ValueError(f"a pair has {different} different tokens; {2**15 - 2:,} fit")
        middle = pairs // 2
        halves = (slice(None, middle), slice(middle, None))
        return np.concatenate([_shared(first.part(half), second.part(half)) for half in halves])
    lengths = np.concatenate([first.lengths, second.lengths])
    owners = np.repeat(np.arange(2 * pairs), lengths + 1)  # those of the second side come last
    sides = (owners >= pairs).astype(np.int64)
    numbers = different + sides  # where a sentence ends; the others follow
    numbers[np.arange(len(ids)) + np.repeat(np.arange(2 * pairs), lengths)] = ids
    ngrams = owners - pairs * sides
    result = np.zeros((pairs, ORDERS), np.int64)
    for order in range(1, ORDERS + 1):
        places = max(len(numbers) - order + 1, 0)
        ngrams = (ngrams[:places] << width) | numbers[order - 1 :]
        found = (ngrams << 1) | sides[:places]
        found.sort()
        matches = _matches(found) >> (1 + order * width)
        result[:, order - 1] = np.bincount(matches, minlength=pairs)
    return result


def _matches(found: Integers) -> Integers:
    """Return the n-grams that are on both sides, each as often as on the side that has fewer.

    Args:
        found: n-grams with their sides in the last bit, 0 or 1, sorted.
    """
    # The last one of the first side, followed by one of the second that is equal but for the side.
    ends = np.flatnonzero((found[1:] ^ found[:-1]) == 1)
    matches = [found[ends]]
    # And as many further ones as there are on either side.
    further = 1
    while len(ends):
        ends = ends[(ends >= further) & (ends + 1 + further < len(found))]
        more = (found[ends - further] == found[ends]) & (
            found[ends + 1 + further] == found[ends + 1]
        )
        ends = ends[more]
        matches.append(found[ends])
        further += 1
    return np.concatenate(matches)


def _renumbered(ids: Integers) -> Integers:
    """Return numbers from 0 that are equal where `ids` are: as few bits as possible."""
    different = np.unique(ids)
    numbers = np.empty(int(different[-1]) + 1 if len(different) else 0, np.int64)
    numbers[different] = np.arange(len(different))
    return numbers[ids]
