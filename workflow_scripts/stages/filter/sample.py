"""A seeded sample of pairs up to a number of pairs or of words, without a list of its members.

Every pair has a number in [0, 1) that follows from the seed, the id of its reference and its
rank, so that systems which paraphrase the same references give the same sample of them. The
sample is all pairs up to a last one in that order.
"""

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from workflow_scripts.core.seeding import fraction
from workflow_scripts.core.text.normalisation import letters_and_digits

Place = tuple[float, str, int]  # a pair's number, the id of its reference, its rank
Places = Callable[[], Iterable[tuple[Place, int]]]

# Before every place.
NOWHERE: Place = (-1.0, "", 0)
_BINS = 1 << 16


def place(seed: int, identifier: str, rank: int, name: str | None = None) -> Place:
    """Return where a pair stands in the seeded order of all pairs.

    Its number follows from the id of its reference, or from another `name` of the reference.
    """
    return fraction(seed, "training_set", name or identifier, rank), identifier, rank


def reference_place(seed: int, reference: str) -> Place:
    """Return where a reference stands in the seeded order of references.

    A bitext may hold a reference several times, with different sources. References that differ in
    nothing but case, punctuation and blanks stand at one place.
    """
    key = letters_and_digits(reference) or reference
    return fraction(seed, "classifier", "reference", key), key, 0


def is_learnt(learnt: Sequence[Any], reference: str) -> bool:
    """Tell whether a model learnt from a reference.

    Args:
        learnt: the seed, and the number and the key of the last place that it learnt from.
        reference: its text.
    """
    seed, number, last = learnt
    return reference_place(seed, reference) <= (number, last, 0)


def last_within(places: Places, limit: int) -> Place:
    """Return the last place up to which the weights of all places sum up to `limit` at most.

    One pass adds up the weights in 65,536 equal intervals of [0, 1), a second one sorts the
    places of the one interval in which the limit is reached.

    Args:
        places: gives a new pass over all places, with their weights, at each call.
        limit: of the sum of the weights.

    Returns:
        `NOWHERE` if even the first place weighs more.
    """
    weights = np.zeros(_BINS, np.int64)
    for (number, *_), weight in places():
        weights[int(number * _BINS)] += weight
    interval = int(np.searchsorted(weights.cumsum(), limit, side="right"))
    left = limit - int(weights[:interval].sum())
    last, inside = NOWHERE, []
    for here, weight in places():
        position = int(here[0] * _BINS)
        if position == interval:
            inside.append((here, weight))
        elif position < interval:
            last = max(last, here)
    for here, weight in sorted(inside):
        left -= weight
        if left < 0:
            break
        last = here
    return last


def last_distinct(places: Iterable[Place], limit: int) -> Place:
    """Return the last of the first `limit` places, where several things may be at one place.

    One pass, in memory for twice as many places as `limit`.

    Returns:
        The last of all if there are fewer; `NOWHERE` if there is none.
    """
    least: set[Place] = set()
    last: Place | None = None
    for here in places:
        if last is None or here < last:
            least.add(here)
        if len(least) >= 2 * limit:
            least = set(heapq.nsmallest(limit, least))
            last = max(least)
    return max(heapq.nsmallest(limit, least), default=NOWHERE)
