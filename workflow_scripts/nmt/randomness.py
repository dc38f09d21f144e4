"""Random numbers by counter: each one depends on its keys only, not on other work in the batch."""

import numpy as np
from torch import Tensor

from workflow_scripts.core.seeding import generator

# The constants of SplitMix64 (Steele, Lea & Flood 2014) as signed 64-bit integers: torch
# multiplies modulo 2 ** 64, as the algorithm needs it.
_STEP = 0x9E3779B97F4A7C15 - 2**64
_FACTOR1 = 0xBF58476D1CE4E5B9 - 2**64
_FACTOR2 = 0x94D049BB133111EB - 2**64


def request_key(seed: int, name: str, number: int) -> int:
    """Return the 64-bit key of one request, e.g. of a sentence and its constraint set."""
    limits = np.iinfo(np.int64)
    return int(generator(seed, "samples", name, number).integers(limits.min, limits.max))


def derive(key: Tensor, counter: Tensor) -> Tensor:
    """Return the keys or bits (int64) that `counter` (int64, from 0) picks under `key`."""
    x = key + (counter + 1) * _STEP
    x = (x ^ _shift(x, 30)) * _FACTOR1
    x = (x ^ _shift(x, 27)) * _FACTOR2
    return x ^ _shift(x, 31)


def uniform(key: Tensor, counter: Tensor) -> Tensor:
    """Return fp64 numbers in [0, 1) with 53 bits."""
    return _shift(derive(key, counter), 11).double() * 2.0**-53


def _shift(x: Tensor, bits: int) -> Tensor:
    """Shift right without the sign."""
    return (x >> bits) & ((1 << (64 - bits)) - 1)
