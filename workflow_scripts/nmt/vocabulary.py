"""Pieces and their ids, as in a vocabulary file of Sockeye 3."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.json_text import parse_json

PAD, UNK, BOS, EOS = range(4)
SYMBOLS = ("<pad>", "<unk>", "<s>", "</s>")
WORD_MARK = "\u2581"  # SentencePiece's mark at the beginning of a word


class Vocabulary:
    """A map between pieces and ids 0..size-1.

    `words` is the number of ids that can occur in text; those behind can't (codes).
    Sockeye fills a vocabulary up to a multiple of eight with entries `<pad4001>`, `<pad4002>` ...
    at its end; unless `words` is given these are found by their names.
    """

    def __init__(self, pieces: Sequence[str], words: int | None = None):
        if tuple(pieces[: len(SYMBOLS)]) != SYMBOLS:
            raise InputError(f"a vocabulary must begin with {' '.join(SYMBOLS)}")
        self._pieces = list(pieces)
        self._ids = {piece: index for index, piece in enumerate(pieces)}
        if len(self._ids) != len(self._pieces):
            raise InputError("a vocabulary must not hold a piece twice")
        self.words = len(pieces) if words is None else words
        while words is None and pieces[self.words - 1] == f"<pad{self.words - 1}>":
            self.words -= 1

    @classmethod
    def load(cls, path: str | Path) -> "Vocabulary":
        """Read a JSON object of piece -> id; the ids must be 0..size-1."""
        try:
            entries = parse_json(Path(path).read_text(encoding="utf-8"))
            pieces = sorted(entries, key=entries.__getitem__)
            ids = [entries[piece] for piece in pieces]
            whole = all(type(number) is int for number in ids)
            complete = whole and ids == list(range(len(pieces)))
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise InputError(f"{path}: cannot read the vocabulary: {error}") from error
        if not complete:
            raise InputError(f"{path}: the ids of a vocabulary must be 0 to its size - 1")
        try:
            return cls(pieces)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    def __len__(self) -> int:
        return len(self._pieces)

    def __iter__(self) -> Iterator[str]:
        return iter(self._pieces)

    def __contains__(self, piece: str) -> bool:
        return piece in self._ids

    def ids(self, pieces: Iterable[str]) -> list[int]:
        """Return the id of every piece; a piece that is not in the vocabulary becomes <unk>."""
        return [self._ids.get(piece, UNK) for piece in pieces]

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Return the piece of every id."""
        return [self._pieces[index] for index in ids]

    @cached_property
    def ends_word(self) -> list[bool]:
        """For every id, whether a word has ended before this piece.

        It has ended before a piece that begins a word, before a piece without letters, marks and
        digits (it is punctuation), and before a symbol such as </s>.
        """
        return [
            index < len(SYMBOLS)
            or piece.startswith(WORD_MARK)
            or all(unicodedata.category(character)[0] not in "LMN" for character in piece)
            for index, piece in enumerate(self._pieces)
        ]
