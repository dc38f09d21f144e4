"""Entropy, repetition and IDF of the words of many sentences, and rank correlation."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.text import words

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Sentences(NamedTuple):
    """The words of some sentences, as numbers, one sentence after the other."""

    words: NDArray[np.int32]  # (words of all sentences,)
    owners: NDArray[np.int32]  # (words of all sentences,), the number of each one's sentence
    lengths: Integers  # (sentences,)


def sentences(texts: Iterable[str], numbers: dict[str, int]) -> Sentences:
    """Number the words of texts; `numbers` holds those of earlier calls and is added to."""
    found, lengths = [], []
    for text in texts:
        row = [numbers.setdefault(word, len(numbers)) for word in words(text)]
        found.append(np.array(row, np.int32))
        lengths.append(len(row))
    counts = np.array(lengths, np.int64)
    owners = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return Sentences(np.concatenate([np.empty(0, np.int32), *found]), owners, counts)


def ngrams(some: Sentences, order: int) -> tuple[Integers, Integers]:
    """Return a number for each n-gram, the same for equal ones, and the number of its sentence."""
    keys = some.words.astype(np.int64)
    size = int(keys.max(initial=0)) + 1
    for further in range(1, order):
        # New numbers for the shorter n-grams keep the product within 63 bits.
        keys = np.unique(keys[: len(some.words) - further], return_inverse=True)[1]
        keys = keys * size + some.words[further:]
    last = some.owners[order - 1 :]
    inside = some.owners[: len(last)] == last
    return keys[: len(last)][inside], last[inside].astype(np.int64)


def entropy(keys: Integers) -> float:
    """Return the entropy, in nats, of numbers as a sample of their distribution; 0 for none."""
    shares = np.unique(keys, return_counts=True)[1] / max(len(keys), 1)
    return float(-(shares * np.log(shares)).sum())


def repetition(some: Sentences, order: int) -> Floats:
    """Return for each sentence the share of its n-grams that repeat an earlier one; NaN without."""
    keys, owners = ngrams(some, order)
    sort = np.lexsort((keys, owners))
    keys, owners = keys[sort], owners[sort]
    again = (keys[1:] == keys[:-1]) & (owners[1:] == owners[:-1])
    count = len(some.lengths)
    repeated = np.bincount(owners[1:][again], minlength=count)
    total = np.bincount(owners, minlength=count)
    return np.where(total > 0, repeated / np.maximum(total, 1), np.nan)


def inverse_document_frequencies(documents: Sentences, vocabulary: int) -> Floats:
    """Return log2(N / df) of each word; the N sentences are the documents.

    A word that is in none of them gets a df of 1.
    """
    pairs = np.unique(documents.owners.astype(np.int64) * vocabulary + documents.words)
    df = np.bincount(pairs % vocabulary, minlength=vocabulary)
    return np.log2(max(len(documents.lengths), 1) / np.maximum(df, 1))


def mean_idf(some: Sentences, idf: Floats) -> Floats:
    """Return the mean IDF of each sentence's words; NaN without any."""
    total = np.bincount(some.owners, idf[some.words], minlength=len(some.lengths))
    return np.where(some.lengths > 0, total / np.maximum(some.lengths, 1), np.nan)
