"""Pairs of phrases that are consistent with a word alignment (Koehn et al., 2003, section 2.2).

A phrase is one to three words that stand side by side. Two phrases are a pair if at least one word
of one is aligned with one of the other, and no word of either with a word outside the other. Words
without a partner beside a phrase may belong to it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.stages.lexicon.alignment import Links
from workflow_scripts.stages.lexicon.counting import Block
from workflow_scripts.stages.lexicon.texts import UNKNOWN, WORD_BITS, Ids, Pairs

Packed = NDArray[np.int64]

MOST_WORDS_OF_PHRASE = 3
_MASK = (1 << WORD_BITS) - 1


class Found(NamedTuple):
    """Pairs of phrases of some pairs of sentences.

    Attributes:
        pair: the number of the pair of sentences, shape (phrase pairs,), as all that follow.
        first: the phrase of the first sentence, packed.
        second: that of the second one.
    """

    pair: NDArray[np.int64]
    first: Packed
    second: Packed


def packed(words: list[NDArray[np.int64]]) -> Packed:
    """Return phrases as numbers; `words` has the first words, the second ones, and so on."""
    found = np.zeros(len(words[0]), np.int64)
    for each in reversed(words):
        found = (found << WORD_BITS) | each
    return found


def unpacked(phrase: int) -> list[int]:
    """Return the words of a packed phrase."""
    words = []
    while phrase:
        words.append(phrase & _MASK)
        phrase >>= WORD_BITS
    return words


def first_words(phrases: Packed) -> NDArray[np.int64]:
    """Return the first word of each phrase."""
    return phrases & _MASK


def last_words(phrases: Packed) -> NDArray[np.int64]:
    """Return the last word of each phrase."""
    last = phrases
    for _ in range(MOST_WORDS_OF_PHRASE - 1):
        last = np.where(last >> WORD_BITS > 0, last >> WORD_BITS, last)
    return last


def has_marked(phrases: Packed, marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which phrases have a word that is marked.

    Args:
        phrases: packed.
        marked: whether each word is, from that with number 1.
    """
    of_number = np.concatenate([[False], marked])
    found = np.zeros(len(phrases), bool)
    for place in range(MOST_WORDS_OF_PHRASE):
        found |= of_number[(phrases >> (place * WORD_BITS)) & _MASK]
    return found


def counted(found: Found) -> Block:
    """Return each pair of phrases, in either order, once for each pair of sentences.

    Shape (phrase pairs, 2), the smaller number first.
    """
    low, high = np.minimum(found.first, found.second), np.maximum(found.first, found.second)
    rows = np.column_stack([found.pair, low, high])
    order = np.lexsort((high, low, found.pair))
    rows = rows[order]
    new = np.ones(len(rows), bool)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return rows[new, 1:]


def _phrases(sentences: Ids, length: int) -> tuple[Packed, NDArray[np.bool_]]:
    """Return the phrases of a length from each place, and which of them consist of known words.

    Both have the shape (pairs, places).
    """
    width = sentences.shape[1] - length + 1
    if width < 1:
        return np.zeros((len(sentences), 0), np.int64), np.zeros((len(sentences), 0), bool)
    parts = [sentences[:, start : start + width] for start in range(length)]
    known = np.logical_and.reduce([(each > 0) & (each < UNKNOWN) for each in parts])
    words = [np.where(known, each, 0).astype(np.int64).ravel() for each in parts]
    return packed(words).reshape(known.shape), known


def phrase_pairs(pairs: Pairs, links: Links, most: int) -> Found:
    """Return the pairs of phrases of up to `most` words; phrases may be equal.

    Args:
        pairs: of sentences.
        links: the place of the partner of each token of the first sentences; -1: it has none.
        most: words of a phrase.
    """
    first, second = pairs
    back = np.full(second.shape, -1, np.int16)
    pair, row = np.nonzero(links >= 0)
    back[pair, links[pair, row]] = row
    found = []
    of_second = {length: _phrases(second, length) for length in range(1, most + 1)}
    for length in range(1, most + 1):
        phrases, known = _phrases(first, length)
        width = phrases.shape[1]
        if not width:
            continue
        parts = np.stack([links[:, start : start + width] for start in range(length)])
        low = np.where(parts < 0, np.int16(1 << 14), parts).min(axis=0)
        high = parts.max(axis=0)
        pair, start = np.nonzero(known & (high >= 0) & (high - low < most))
        low, high = low[pair, start].astype(np.int64), high[pair, start].astype(np.int64)
        for other in range(1, most + 1):
            of_other, known_other = of_second[other]
            # All phrases of that length that hold the partners, from `high - other + 1` to `low`.
            for before in range(other):
                begin = low - before
                inside = (begin >= 0) & (begin + other > high)
                inside &= begin < of_other.shape[1]
                chosen = np.flatnonzero(inside)
                chosen = chosen[known_other[pair[chosen], begin[chosen]]]
                for step in range(other):
                    partner = back[pair[chosen], begin[chosen] + step]
                    outside = (partner < start[chosen]) | (partner >= start[chosen] + length)
                    chosen = chosen[(partner < 0) | ~outside]
                found.append(
                    Found(
                        pair[chosen],
                        phrases[pair[chosen], start[chosen]],
                        of_other[pair[chosen], begin[chosen]],
                    )
                )
    if not found:
        empty = np.zeros(0, np.int64)
        return Found(empty, empty, empty)
    return Found(*map(np.concatenate, zip(*found, strict=True)))
