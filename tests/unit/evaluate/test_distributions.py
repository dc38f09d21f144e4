from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.stages.evaluate.distributions import (
    entropy,
    idf_of_documents,
    inverse_document_frequencies,
    mean_idf,
    ngrams,
    repetition,
    sentences,
    with_long_words,
)

texts = st.lists(st.lists(st.sampled_from("abcde"), max_size=8).map(" ".join), max_size=6)


def bag(text, order):
    tokens = text.split()
    return Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))


@pytest.mark.slow
@settings(deadline=None)
@given(texts, st.integers(1, 3))
def test_entropy_and_repetition_are_those_of_counted_ngrams(texts, order):
    some = sentences(texts, {})
    counts = sum((bag(text, order) for text in texts), Counter())
    shares = np.array(list(counts.values())) / counts.total() if counts else np.array([])
    assert entropy(ngrams(some, order)[0]) == pytest.approx(-np.sum(shares * np.log(shares)))
    expected = [
        1 - len(bag(text, order)) / bag(text, order).total() if bag(text, order) else np.nan
        for text in texts
    ]
    assert repetition(some, order) == pytest.approx(expected, nan_ok=True)


def test_short_words_can_be_left_out():
    numbers = {}
    some = sentences(["a a the the", "is it", ""], numbers)
    kept = with_long_words(some, numbers, 3)
    assert kept.lengths.tolist() == [2, 0, 0]
    assert repetition(kept, 1) == pytest.approx([0.5, np.nan, np.nan], nan_ok=True)


def test_idf_of_other_documents_counts_each_word_once_by_document():
    numbers = {"dog": 0, "cat": 1, "bird": 2}
    documents = ["A dog, a dog!", "...", "The cat and the dog", "Nothing of these"]
    idf, count = idf_of_documents(documents, numbers)
    assert count == 3  # a line without a word is none
    assert idf == pytest.approx(np.log2([3 / 2, 3 / 1, 3 / 1]))  # unknown: as if in one


def test_idf_is_over_documents():
    numbers = {}
    documents = sentences(["the dog", "the the cat", "the", "a dog"], numbers)
    others = sentences(["the dog", "zebra", ""], numbers)
    idf = inverse_document_frequencies(documents, len(numbers))
    assert idf[numbers["the"]] == pytest.approx(np.log2(4 / 3))
    assert idf[numbers["dog"]] == 1
    assert idf[numbers["zebra"]] == 2
    assert mean_idf(others, idf)[:2] == pytest.approx([(np.log2(4 / 3) + 1) / 2, 2])
    assert np.isnan(mean_idf(others, idf)[2])
