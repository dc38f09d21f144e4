"""Randomness seeded per item, so that results depend neither on batches nor on shards."""

import hashlib
import json

import numpy as np


def _digest(seed: int, keys: tuple[str | int, ...]) -> bytes:
    canonical = json.dumps([seed, *keys], ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(canonical.encode("ascii"), digest_size=16).digest()


def generator(seed: int, *keys: str | int) -> np.random.Generator:
    """Return the random generator of one item, e.g. `generator(seed, "constraints", id, set)`."""
    return np.random.Generator(np.random.Philox(key=int.from_bytes(_digest(seed, keys), "little")))


def fraction(seed: int, *keys: str | int) -> float:
    """Return the item's own number, uniform in [0, 1) with 53 bits."""
    return (int.from_bytes(_digest(seed, keys)[:8], "little") >> 11) * 2.0**-53
