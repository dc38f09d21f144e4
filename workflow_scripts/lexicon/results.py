"""The files of a lexicon's units, and what is known of a finished lexicon."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.manifest import verify
from workflow_scripts.core.tables import read_batches

# The schemas of the tables (core/tables.py).
WORDS, LINKS, COUNTS = "lexicon_words", "lexicon_links", "lexicon_counts"
PHRASES, ENTRIES = "lexicon_phrases", "lexicon"
# Why a pair is left out.
TOO_LONG = "too_long"
# What follows the name of a shard: words across both sentences, and within one of them.
ACROSS, WITHIN = "-across", "-within"


class Words(NamedTuple):
    """The words of a lexicon.

    Attributes:
        words: the word with number 1, and so on.
        sentences: how many sentences have each.
    """

    words: list[str]
    sentences: NDArray[np.int64]


def read_words(folder: Path) -> Words:
    """Return the words of a lexicon, after verifying their file."""
    path = folder / "words.parquet"
    verify(path)
    words: list[str] = []
    sentences = [np.zeros(0, np.int64)]
    for batch in read_batches(path, WORDS, None, 1 << 16):
        words += batch.column("word").to_pylist()
        sentences.append(batch.column("sentences").to_numpy())
    return Words(words, np.concatenate(sentences))
