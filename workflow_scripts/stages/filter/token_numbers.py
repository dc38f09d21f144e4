"""Sentences as numbers, many at once: their words, and sacrebleu's tokens.

Both tokenisations treat what stands between blanks by itself, so each such string is tokenised
once and then looked up.
"""

from array import array
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from workflow_scripts.core.text.word_tokens import DROPPED, TOKENISERS, TOKENS

# Beyond this many strings a lexicon starts anew; memory stays flat.
CAPACITY = 500_000


class Tokens(NamedTuple):
    """Some sentences' tokens, one sentence after the other; equal numbers are equal tokens."""

    ids: NDArray[np.int64]  # (tokens of all sentences,)
    lengths: NDArray[np.int64]  # (sentences,)

    def run(self, sentences: slice) -> "Tokens":
        """Return some consecutive sentences."""
        ends = np.concatenate([[0], self.lengths.cumsum()])
        first, last, _ = sentences.indices(len(self.lengths))
        return Tokens(self.ids[ends[first] : ends[last]], self.lengths[sentences])

    def take(self, sentences: NDArray[np.int64]) -> "Tokens":
        """Return the sentences with these numbers, in their order."""
        starts, widths = self.lengths.cumsum() - self.lengths, self.lengths[sentences]
        return Tokens(self.ids[_rows(starts, widths, sentences)], widths)


def _rows(
    starts: NDArray[np.int64], widths: NDArray[np.int64], chosen: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the places of the chosen rows of a flat array; `widths` are those of the chosen."""
    if not widths.all():
        chosen, widths = chosen[widths > 0], widths[widths > 0]
    if not len(chosen):
        return np.zeros(0, np.int64)
    # From each place to the next it is one step, but from the end of a row to the next row.
    ends, firsts = widths.cumsum(), starts[chosen]
    steps = np.ones(ends[-1], np.int64)
    steps[0] = firsts[0]
    steps[ends[:-1]] += firsts[1:] - firsts[:-1] - widths[:-1]
    return steps.cumsum()


class _Pieces:
    """What each string consists of under one tokenisation: rows of numbers in one flat array."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._flat, self._starts = array("q"), array("q", [0])

    def append(self, tokens: Iterable[str]) -> None:
        for token in tokens:
            self._flat.append(self._numbers.setdefault(token, len(self._numbers)))
        self._starts.append(len(self._flat))

    def tokens(self, strings: NDArray[np.int64], counts: NDArray[np.int64]) -> Tokens:
        """Return the tokens of sentences with `counts` strings each."""
        starts = np.array(self._starts)
        widths = np.diff(starts)[strings]
        ends = np.concatenate([[0], widths.cumsum()])
        lengths = np.diff(ends[np.concatenate([[0], counts.cumsum()])])
        return Tokens(np.array(self._flat)[_rows(starts, widths, strings)], lengths)


class Lexicon(dict[str, int]):
    """A number for each string between blanks, and its tokens."""

    def __init__(self, punctuation: str = DROPPED) -> None:
        super().__init__()
        self._split = TOKENISERS[punctuation]
        self._known, self._keeps_marks = punctuation in (DROPPED, TOKENS), punctuation == TOKENS
        self._words, self._sacrebleu = _Pieces(), _Pieces()
        self._tokenizer = Tokenizer13a()

    def __missing__(self, string: str) -> int:
        # Most strings are words, with or without a stop or comma, and need no tokeniser.
        word, mark = (string[:-1], [string[-1]]) if string[-1:] in (".", ",") else (string, [])
        plain = word.isalnum()
        if plain and self._known:
            self._words.append([word.lower(), *(mark if self._keeps_marks else [])])
        else:
            self._words.append(self._split(string))
        self._sacrebleu.append([word, *mark] if plain else self._tokenizer(string).split())
        self[string] = number = len(self)
        return number

    def tokens(self, sentences: pa.StringArray) -> tuple[Tokens, Tokens]:
        """Return the sentences' words, and their tokens under sacrebleu's default, 13a.

        The words are lower-cased, without punctuation or with its marks as words of their own.

        The numbers of the two have nothing to do with each other, and those of one call may not
        mean the same as those of the next.
        """
        if len(self) > CAPACITY:
            self.clear()
            self._words, self._sacrebleu = _Pieces(), _Pieces()
        # At blanks alone: the tokenisations know what else counts as one.
        split = pc.split_pattern(sentences, " ")
        counts = split.value_lengths().to_numpy().astype(np.int64)
        encoded = split.flatten().dictionary_encode()
        different = encoded.dictionary.to_numpy(zero_copy_only=False)
        numbers = np.fromiter(map(self.__getitem__, different), np.int64, len(different))
        strings = numbers[encoded.indices.to_numpy()]
        return self._words.tokens(strings, counts), self._sacrebleu.tokens(strings, counts)
