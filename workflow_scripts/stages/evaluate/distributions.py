"""Entropy, repetition and IDF of the words of many sentences, and rank correlation."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workflow_scripts.core.text.normalisation import words

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Sentences(NamedTuple):
    """The words of some sentences, as numbers, one sentence after the other."""

    words: NDArray[np.int32]  # (words of all sentences,)
    owners: NDArray[np.int32]  # (words of all sentences,), the number of each one's sentence
    lengths: Integers  # (sentences,)


def sentences(
    texts: Iterable[str],
    numbers: dict[str, int],
    split: Callable[[str], list[str]] = words,
) -> Sentences:
    """Number the words of texts.

    Args:
        texts: the sentences.
        numbers: those of earlier calls; it is added to.
        split: gives the words of a sentence.
    """
    rows, lengths = [], []
    for text in texts:
        row = [numbers.setdefault(word, len(numbers)) for word in split(text)]
        rows.append(np.array(row, np.int32))
        lengths.append(len(row))
    counts = np.array(lengths, np.int64)
    owners = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return Sentences(np.concatenate([np.empty(0, np.int32), *rows]), owners, counts)


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
    return float(0.0 - (shares * np.log(shares)).sum())  # no "-0.0"


def repetition(some: Sentences, order: int) -> Floats:
    """Return for each sentence the share of its n-grams that repeat an earlier one; NaN without."""
    keys, owners = ngrams(some, order)
    again = pd.DataFrame({"key": keys, "owner": owners}).duplicated()
    shares: Floats = again.groupby(owners).mean().reindex(range(len(some.lengths))).to_numpy()
    return shares


def with_long_words(some: Sentences, numbers: dict[str, int], least: int) -> Sentences:
    """Return the sentences without their words of fewer than `least` characters.

    Args:
        some: the sentences.
        numbers: of all their words.
        least: the length of the shortest words that stay.
    """
    long = np.fromiter((len(word) >= least for word in numbers), bool, len(numbers))
    stays = long[some.words]
    lengths = np.bincount(some.owners[stays], minlength=len(some.lengths)).astype(np.int64)
    return Sentences(some.words[stays], some.owners[stays], lengths)


def inverse_document_frequencies(documents: Sentences, vocabulary: int) -> Floats:
    """Return log2(N / df) of each word; the N sentences are the documents.

    A word that is in none of them gets a df of 1.
    """
    pairs = np.unique(documents.owners.astype(np.int64) * vocabulary + documents.words)
    df = np.bincount(pairs % vocabulary, minlength=vocabulary)
    return _idf(df, len(documents.lengths))


def idf_of_documents(
    documents: Iterable[str], numbers: dict[str, int], split: Callable[[str], list[str]] = words
) -> tuple[Floats, int]:
    """Return log2(N / df) of numbered words, and N, the documents that have a word.

    Memory is that of the numbered words, however many documents there are.

    Args:
        documents: a sentence each; those without a word are none.
        numbers: of the words that are asked for; all words get a df of 1 at least.
        split: gives the words of a document.
    """
    df, count = np.zeros(len(numbers), np.int64), 0
    for document in documents:
        different = set(split(document))
        count += bool(different)
        df[[numbers[word] for word in different if word in numbers]] += 1
    return _idf(df, count), count


def _idf(df: Integers, documents: int) -> Floats:
    return np.log2(max(documents, 1) / np.maximum(df, 1))


def mean_idf(some: Sentences, idf: Floats) -> Floats:
    """Return the mean IDF of each sentence's words; NaN without any."""
    total = np.bincount(some.owners, idf[some.words], minlength=len(some.lengths))
    return np.where(some.lengths > 0, total / np.maximum(some.lengths, 1), np.nan)
