"""Sentences to token ids: words, letter trigrams or SentencePiece pieces.

This file travels in the folder of a trained model (see sentence_module.py), so it imports nothing
of this package. Tokens that the vocabulary doesn't have are left out.
"""

import json
import string
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

# Ids of many sentences, one after the other, shape (tokens,); and the number of each, (sentences,).
Ragged = tuple[NDArray[np.int64], NDArray[np.int64]]
_UNKNOWN = -1
# Distinct spellings whose ids are remembered, so that memory does not grow with the text.
_REMEMBERED = 1_000_000


def _without_unknown(ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> Ragged:
    known = ids != _UNKNOWN
    if known.all():
        return ids, lengths
    ends = np.concatenate([[0], np.cumsum(known)])[np.cumsum(lengths)]
    return ids[known], np.diff(ends, prepend=0)


def _flat(rows: Sequence[Sequence[int]]) -> Ragged:
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    ids = np.fromiter(chain.from_iterable(rows), np.int64, int(lengths.sum()))
    return _without_unknown(ids, lengths)


class _WordIds(dict[str, int]):
    """The id of each word as it may be written in a sentence."""

    def __init__(self, vocabulary: Iterable[str]):
        super().__init__((word, index) for index, word in enumerate(vocabulary))
        self._limit = len(self) + _REMEMBERED

    def __missing__(self, token: str) -> int:
        index = self.get(token.strip(string.punctuation), _UNKNOWN)
        if len(self) < self._limit:
            self[token] = index
        return index


class Words:
    """Lower-cased words between blanks, as they stand or without ASCII punctuation around them.

    The rules and the file are those of the WhitespaceTokenizer of sentence-transformers.
    """

    kind = "words"
    file = "whitespacetokenizer_config.json"

    def __init__(self, vocabulary: Sequence[str]):
        self.vocabulary = list(vocabulary)
        self._ids = _WordIds(self.vocabulary)

    def __len__(self) -> int:
        return len(self.vocabulary)

    @staticmethod
    def split(sentence: str) -> Iterator[str]:
        """Yield the words of which a vocabulary is made."""
        for token in sentence.lower().split():
            word = token.strip(string.punctuation)
            if word:
                yield word

    def ids(self, sentences: Sequence[str]) -> Ragged:
        """Return the token ids of sentences."""
        look_up = self._ids.__getitem__
        return _flat([list(map(look_up, sentence.lower().split())) for sentence in sentences])

    def save(self, folder: Path) -> None:
        """Write the vocabulary into a model folder."""
        content = {"vocab": self.vocabulary, "stop_words": [], "do_lower_case": True}
        (folder / self.file).write_text(json.dumps(content), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""
        return cls(json.loads((folder / cls.file).read_text(encoding="utf-8"))["vocab"])


def _trigram_codes(sentences: Sequence[str]) -> Ragged:
    """Return each trigram as one number (a code point has 21 bits), and their count by sentence."""
    texts = [f" {' '.join(sentence.lower().split())} " for sentence in sentences]
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    encoded = "".join(texts).encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(encoded, np.uint32).astype(np.int64)
    codes = points[:-2] << 42 | points[1:-1] << 21 | points[2:] if len(points) else points
    # The two trigrams that begin at the end of a sentence run into the next one.
    inside = np.ones(len(points), dtype=bool)
    ends = np.cumsum(lengths)
    inside[ends - 1] = inside[ends - 2] = False
    return codes[inside[:-2]] if len(points) else codes, lengths - 2


def _code(trigram: str) -> int:
    first, second, third = map(ord, trigram)
    return first << 42 | second << 21 | third


class Trigrams:
    """All three letters in a row of the lower-cased sentence, with its blanks and one at each end.

    (ParaNMT, section 4; Wieting et al., "Charagram", 2016.) Several blanks count as one.
    """

    kind = "trigrams"
    file = "trigrams.json"

    def __init__(self, vocabulary: Sequence[str]):
        self.vocabulary = list(vocabulary)
        codes = np.array([_code(trigram) for trigram in self.vocabulary], dtype=np.int64)
        self._order = np.argsort(codes)
        self._codes = codes[self._order]

    def __len__(self) -> int:
        return len(self.vocabulary)

    @staticmethod
    def split(sentence: str) -> Iterator[str]:
        """Yield the trigrams of which a vocabulary is made."""
        text = f" {' '.join(sentence.lower().split())} "
        return (text[start : start + 3] for start in range(len(text) - 2))

    def ids(self, sentences: Sequence[str]) -> Ragged:
        """Return the token ids of sentences."""
        codes, lengths = _trigram_codes(sentences)
        if not len(self._codes):
            return _without_unknown(np.full(len(codes), _UNKNOWN), lengths)
        places = np.searchsorted(self._codes, codes).clip(max=len(self._codes) - 1)
        ids = np.where(self._codes[places] == codes, self._order[places], _UNKNOWN)
        return _without_unknown(ids, lengths)

    def save(self, folder: Path) -> None:
        """Write the vocabulary into a model folder."""
        (folder / self.file).write_text(json.dumps(self.vocabulary), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""
        return cls(json.loads((folder / cls.file).read_text(encoding="utf-8")))


class Pieces:
    """The Viterbi pieces of a SentencePiece model, which has its own rules of lower-casing."""

    kind = "pieces"
    file = "pieces.model"

    def __init__(self, model: bytes):
        from sentencepiece import SentencePieceProcessor  # only models of pieces need it

        self._content = model
        self._model = SentencePieceProcessor(model_proto=model)

    def __len__(self) -> int:
        return self._model.get_piece_size()

    @property
    def vocabulary(self) -> list[str]:
        """The pieces; the mark of a word's beginning is U+2581."""
        return [self._model.id_to_piece(index) for index in range(len(self))]

    def ids(self, sentences: Sequence[str]) -> Ragged:
        """Return the token ids of sentences."""
        ids, lengths = _flat(self._model.encode(list(sentences), out_type=int))
        ids[ids == self._model.unk_id()] = _UNKNOWN
        return _without_unknown(ids, lengths)

    def save(self, folder: Path) -> None:
        """Write the SentencePiece model into a model folder."""
        (folder / self.file).write_bytes(self._content)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""
        return cls((folder / cls.file).read_bytes())


Tokeniser = Words | Trigrams | Pieces
KINDS: dict[str, type[Tokeniser]] = {kind.kind: kind for kind in (Words, Trigrams, Pieces)}
