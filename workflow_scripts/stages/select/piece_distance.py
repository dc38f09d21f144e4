"""Edit distances between sentences, counted in subword pieces (ParaBank 2, 2.3)."""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from workflow_scripts.stages.select.cluster import Distances

WORD_BOUNDARY = "\u2581"  # SentencePiece's mark for a blank


@lru_cache(maxsize=1 << 16)
def token(piece: str) -> str:
    """Return a piece as it is compared: lower-cased, without punctuation and symbols.

    The word-boundary mark stays on a piece that holds more than it and counts as nothing on its
    own; a piece of punctuation becomes the empty string.
    """
    letters = "".join(
        character
        for character in piece.lower()
        if character == WORD_BOUNDARY or unicodedata.category(character)[0] not in "PS"
    )
    return "" if letters == WORD_BOUNDARY else letters


def tokens(pieces: Sequence[str]) -> list[str]:
    """Return the tokens of a segmented sentence that its distances are counted on."""
    return [compared for compared in map(token, pieces) if compared]


def distance_matrix(sentences: Sequence[Sequence[str]]) -> Distances:
    """Return the token-level Levenshtein distances between all sentences.

    Args:
        sentences: n lists of tokens.

    Returns:
        n x n unsigned integers, symmetric, zero on the diagonal; wide enough for the longest
        sentence, since no distance exceeds the length of the longer of the two.
    """
    ids: dict[str, int] = {}
    interned = [[ids.setdefault(word, len(ids)) for word in sentence] for sentence in sentences]
    longest = max(map(len, interned), default=0)
    return cdist(
        interned,
        interned,
        scorer=Levenshtein.distance,
        dtype=np.min_scalar_type(longest),
        workers=1,
    )
