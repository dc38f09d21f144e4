"""How often sequences of words were seen, in a table of fixed size: what a network can't memorise.

A cell of the table has four bits: the logarithm of a count. A sequence that was never seen may
fall into the cell of another one; the network, which is trained on sentences that were not
counted, learns how much a cell is worth.
"""

import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

BITS = 22
"""The table has 2 ** BITS cells."""
# What a token is asked: itself, pairs with the one before and the one behind, the pair around it,
# and the threes that end at it, surround it and begin at it.
FEATURES = 7
LEVELS = 15
# A longer sequence counts if it was seen this often: those seen once are too many for the table.
_LEAST = 2
_EDGE = ""
_MULTIPLIERS = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93],
    dtype=np.uint64,
)
_SHIFT, _TOP = np.uint64(29), np.uint64(64 - BITS)

Hashes = NDArray[np.uint64]


@lru_cache(maxsize=1 << 18)
def _hash(word: str) -> int:
    checksum = zlib.crc32(word.encode("utf-8", "surrogatepass"))
    return (checksum << 32) | zlib.adler32(word[::-1].encode("utf-8", "surrogatepass"))


def hashes(words: Sequence[str], length: int) -> Hashes:
    """Return hashes of a sentence with its edges, and nothing (0) behind it, up to `length`."""
    result = np.zeros(length, np.uint64)
    result[: len(words) + 2] = [_hash(word) for word in (_EDGE, *words, _EDGE)]
    return result


def _cells(kind: int, *parts: Hashes) -> Hashes:
    """Return the cells of sequences of one kind, given by their parts; 0 where a part is nothing.

    Nothing is counted in cell 0.
    """
    mixed = np.full_like(parts[0], kind + 1) * _MULTIPLIERS[3]
    present = np.ones(parts[0].shape, bool)
    for multiplier, part in zip(_MULTIPLIERS, parts, strict=False):
        mixed = (mixed ^ part) * multiplier
        mixed ^= mixed >> _SHIFT
        present &= part > 0
    return np.where(present, (mixed * _MULTIPLIERS[0]) >> _TOP, np.uint64(0))


def _sequences(words: Hashes) -> tuple[Hashes, Hashes, Hashes, Hashes]:
    """Return cells of the words, pairs, pairs around a word, and threes of (rows, tokens)."""
    before, middle, behind = words[:, :-2], words[:, 1:-1], words[:, 2:]
    return (
        _cells(0, words),
        _cells(1, words[:, :-1], words[:, 1:]),
        _cells(2, before, behind),
        _cells(3, before, middle, behind),
    )


class Seen:
    """The table.

    Args:
        table: shape (2 ** BITS / 2,), two cells a byte.
    """

    def __init__(self, table: NDArray[np.uint8]):
        self.table = table

    @classmethod
    def count(cls, sentences: Iterable[Sequence[str]]) -> "Seen":
        """Count sentences that are given as words in normal form."""
        # One row, with two times nothing between sentences: no sequence reaches across.
        parts = [hashes(words, len(words) + 4) for words in sentences]
        row = np.concatenate([np.zeros(2, np.uint64), *parts])[None]
        levels = np.zeros(1 << BITS, np.uint8)
        for kind, cells in enumerate(_sequences(row)):
            # A sequence has a cell, and few share one: the cells are counted.
            counts = np.bincount(cells[cells > 0].astype(np.int64))
            seen = np.flatnonzero(counts >= (1 if kind == 0 else _LEAST))
            level = 1 + np.floor(1.5 * np.log2(counts[seen]))
            levels[seen] = np.maximum(levels[seen], level.clip(max=LEVELS))
        return cls((levels[0::2] | (levels[1::2] << 4)).astype(np.uint8))

    def features(self, words: Hashes) -> NDArray[np.float32]:
        """Return what is known of each token, shape (sentences, tokens, FEATURES), from 0 to 1.

        Args:
            words: hashes of the words of the sentences, shape (sentences, tokens); see `hashes`.
        """
        one, two, around, three = (self._levels(cells) for cells in _sequences(words))
        result = np.zeros((*words.shape, FEATURES), np.uint8)
        result[:, :, 0] = one
        result[:, 1:, 1] = result[:, :-1, 2] = two
        result[:, 1:-1, 3] = around
        result[:, 2:, 4] = result[:, 1:-1, 5] = result[:, :-2, 6] = three
        return (result / np.float32(LEVELS)).astype(np.float32)

    def _levels(self, cells: Hashes) -> NDArray[np.uint8]:
        shift = ((cells & np.uint64(1)) << np.uint64(2)).astype(np.uint8)
        return (self.table[cells >> np.uint64(1)] >> shift) & LEVELS
