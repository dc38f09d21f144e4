"""Exact order statistics of a stream of numbers, in flat memory.

The bit patterns of float32 numbers can be turned into unsigned integers of the same order. One
pass counts their upper 16 bits, which gives the upper 16 bits of each wanted number. A second pass
counts the lower 16 bits of the numbers that share them.
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

_HALF = 1 << 16
_SIGN = np.uint32(1 << 31)

Passes = Callable[[], Iterable[NDArray[np.float32]]]


def order_statistics(values: Passes, ranks: list[int]) -> list[float]:
    """Return the numbers that have these ranks in a stream; the least number has rank 1.

    Args:
        values: gives a new pass at each call, twice: float32 arrays without NaN, with as many
            numbers in all as the greatest rank at least.
        ranks: from 1, in any order. Memory grows with their number alone, by 512 KiB each.
    """
    upper = np.zeros(_HALF, np.int64)
    for chunk in values():
        upper += np.bincount(_ordered(chunk) >> 16, minlength=_HALF)
    cumulative = upper.cumsum()
    prefixes = np.searchsorted(cumulative, ranks)
    lower = {int(prefix): np.zeros(_HALF, np.int64) for prefix in prefixes}
    for chunk in values():
        bits = _ordered(chunk)
        for prefix, counts in lower.items():
            shared = bits[bits >> 16 == prefix]
            counts += np.bincount(shared & (_HALF - 1), minlength=_HALF)
    numbers = []
    for rank, prefix in zip(ranks, map(int, prefixes), strict=True):
        below = int(cumulative[prefix] - upper[prefix])
        suffix = int(np.searchsorted(lower[prefix].cumsum(), rank - below))
        numbers.append(_number(prefix << 16 | suffix))
    return numbers


def quantile_rank(quantile: float, count: int) -> int:
    """Return the rank, from 1, of the smallest of `count` numbers that a share does not exceed."""
    # The decimal in the config, not its nearest binary fraction: 0.07 of 100 is 7, not 8.
    return max(1, math.ceil(Fraction(str(quantile)) * count))


def _ordered(values: NDArray[np.float32]) -> NDArray[np.uint32]:
    # Adding 0 turns -0.0, which equals 0.0 and would sort before it, into 0.0.
    bits = (values + np.float32(0)).view(np.uint32)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _number(ordered: int) -> float:
    bits = ordered ^ int(_SIGN) if ordered & int(_SIGN) else ordered ^ 0xFFFFFFFF
    return float(np.array(bits, np.uint32).view(np.float32))
