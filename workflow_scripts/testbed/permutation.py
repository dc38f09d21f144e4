"""Seeded permutations of the numbers below n, without a table."""

import hashlib
from functools import lru_cache

_ROUNDS = 4
_MASK = (1 << 64) - 1


@lru_cache(1 << 14)
def _keys(seed: int, name: str) -> tuple[int, ...]:
    digest = hashlib.blake2b(f"{seed}\t{name}".encode(), digest_size=8 * _ROUNDS).digest()
    return tuple(int.from_bytes(digest[8 * i : 8 * i + 8], "little") for i in range(_ROUNDS))


def _mixed(value: int, key: int) -> int:
    """Scramble a number (the finaliser of SplitMix64)."""
    value = (value + key) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def permuted(index: int, size: int, seed: int, name: str) -> int:
    """Return the value at `index` of a permutation of range(size).

    A Feistel network permutes the next power of four; values beyond `size` are sent through it
    again until they fall below (Black & Rogaway 2002), which keeps it a permutation.
    """
    if not 0 <= index < size:
        raise ValueError(f"{index} is not in range({size})")
    half = max(1, ((size - 1).bit_length() + 1) // 2)
    mask = (1 << half) - 1
    keys = _keys(seed, name)
    value = index
    while True:
        left, right = value >> half, value & mask
        for key in keys:
            left, right = right, left ^ (_mixed(right, key) & mask)
        value = left << half | right
        if value < size:
            return value
