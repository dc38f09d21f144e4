"""Which words stand together: one in each sentence of a pair, or both in one sentence.

Sentences count, not places: a word that stands twice in a sentence counts once.
"""

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.stages.lexicon.counting import Block
from workflow_scripts.stages.lexicon.texts import UNKNOWN, WORD_BITS, Ids


def distinct(sentences: Ids) -> NDArray[np.int64]:
    """Return the known words of each sentence in rising order, each once, and 0 elsewhere."""
    words = np.sort(np.where((sentences > 0) & (sentences < UNKNOWN), sentences, 0), axis=1)
    words[:, 1:][words[:, 1:] == words[:, :-1]] = 0
    return words.astype(np.int64)


def word_pair(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return two words, in either order, as one number."""
    return (np.minimum(one, other) << WORD_BITS) | np.maximum(one, other)


def across(first: NDArray[np.int64], second: NDArray[np.int64]) -> Block:
    """Return the pairs of words with one word in each sentence, shape (pairs of words, 1).

    One that both sentences have in both ways comes twice.

    Args:
        first: distinct words, as `distinct` returns them.
        second: those of the other sentences.
    """
    both = (first[:, :, None] > 0) & (second[:, None, :] > 0)
    pair, row, column = np.nonzero(both & (first[:, :, None] != second[:, None, :]))
    return word_pair(first[pair, row], second[pair, column])[:, None]


def inside(words: NDArray[np.int64]) -> Block:
    """Return the pairs of words that stand in one sentence, shape (pairs of words, 1)."""
    # In rising order: of two places the later one has the greater word, if it has one.
    one, other = np.triu_indices(words.shape[1], 1)
    pairs, places = np.nonzero((words[:, one] > 0) & (words[:, other] > 0))
    return word_pair(words[pairs, one[places]], words[pairs, other[places]])[:, None]
