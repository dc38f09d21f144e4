"""The sentences of pairs as numbers: words that a lexicon knows, other words, and other tokens.

A token is one of sacrebleu's tokeniser 13a, in lower case; a word is a token with a letter. So
numbers and marks of punctuation are tokens and no words: they are aligned with their like alone,
and stand in no phrase.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workflow_scripts.core.files.rows import TrainingPairRow
from workflow_scripts.core.files.shard_frame import Input
from workflow_scripts.core.text.word_tokens import words_and_punctuation

Ids = NDArray[np.int32]

# Known words have numbers from 1, the most frequent one first. Three of them are packed into one
# number of 63 bits (`phrase_pairs.packed`).
WORD_BITS = 21
MOST_WORDS = (1 << WORD_BITS) - 1
# Words that are not known have numbers from here, and tokens that are no words from there. They
# differ from token to token within a call, and mean nothing beyond it.
UNKNOWN, OTHER = 1 << WORD_BITS, 1 << 29
# What fills up short rows: it differs between the two sides, so that nothing equals it.
PAD = (-1, -2)
# Pairs that are worked on at once.
BATCH = 4096
# At most this many strings are remembered with their tokens; memory stays flat.
_CAPACITY = 500_000


class Pairs(NamedTuple):
    """Some pairs of sentences as numbers.

    Attributes:
        first: of one side, shape (pairs, tokens of the longest), filled up with `PAD[0]`.
        second: of the other, filled up with `PAD[1]`.
    """

    first: Ids
    second: Ids


def is_word(token: str) -> bool:
    """Tell whether a token is a word: it has a letter."""
    return any(map(str.isalpha, token))


class Tokens(dict[str, list[int]]):
    """The numbers of the tokens of what stands between two blanks."""

    def __init__(self, number: Callable[[str], int]):
        super().__init__()
        self._number = number

    def __missing__(self, string: str) -> list[int]:
        numbers = [self._number(token) for token in words_and_punctuation(string)]
        if len(self) < _CAPACITY:
            self[string] = numbers
        return numbers

    def of(self, sentence: str) -> list[int]:
        """Return the numbers of a sentence's tokens."""
        return [number for string in sentence.split(" ") for number in self[string]]


class Numbers:
    """The numbers of tokens where the words that are known are given."""

    def __init__(self, words: Sequence[str]):
        self._known = {word: number for number, word in enumerate(words, start=1)}
        self._others: dict[str, int] = {}
        self.tokens = Tokens(self._number)

    def _number(self, token: str) -> int:
        if number := self._known.get(token):
            return number
        place = self._others.setdefault(token, len(self._others))
        return (UNKNOWN if is_word(token) else OTHER) + place

    def forget(self) -> None:
        """Forget tokens that are no known words, if they are many."""
        if len(self._others) > _CAPACITY:
            self._others.clear()
            self.tokens.clear()


def too_long(pair: tuple[list[int], list[int]], most: int) -> bool:
    """Tell whether a sentence of a pair has more than `most` tokens."""
    return max(map(len, pair)) > most


def padded(sentences: Sequence[Sequence[int]], pad: int) -> Ids:
    """Return sentences as rows of one width."""
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    rows = np.full((len(sentences), max(1, int(lengths.max(initial=0)))), pad, np.int32)
    places = np.arange(rows.shape[1])[None, :] < lengths[:, None]
    rows[places] = [number for sentence in sentences for number in sentence]
    return rows


def batches(pairs: Sequence[tuple[list[int], list[int]]]) -> Iterator[Pairs]:
    """Yield pairs in batches in which all have about the same length."""
    order = sorted(range(len(pairs)), key=lambda index: max(map(len, pairs[index])))
    for start in range(0, len(order), BATCH):
        batch = [pairs[index] for index in order[start : start + BATCH]]
        yield Pairs(*(padded([pair[side] for pair in batch], PAD[side]) for side in (0, 1)))


def read_texts(sets: list[Path], first: int, last: int) -> Iterator[pa.RecordBatch]:
    """Yield the pairs with numbers from `first` to before `last` of training sets, in batches.

    Args:
        sets: their files; pairs are numbered through them.
        first: number of the first pair, from 0.
        last: number behind the last one.

    Raises:
        InputError: a file is damaged.
    """
    start = 0
    read = Input(sets, TrainingPairRow).batches(["reference", "paraphrase"], 1 << 14)
    for batch in read.items:
        low, high = max(first - start, 0), min(last - start, batch.num_rows)
        if low < high:
            yield batch.slice(low, high - low)
        start += batch.num_rows
        if start >= last:
            return


def encoded(batch: pa.RecordBatch, tokens: Tokens) -> list[tuple[list[int], list[int]]]:
    """Return the pairs of a batch of texts as numbers."""
    sides = (batch.column(name).to_pylist() for name in ("reference", "paraphrase"))
    return [(tokens.of(one), tokens.of(other)) for one, other in zip(*sides, strict=True)]
