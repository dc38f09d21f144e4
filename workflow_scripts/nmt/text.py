"""Text to piece ids and back, for the command lines: pieces with blanks between, or raw text."""

from pathlib import Path

import sentencepiece

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.vocabulary import BOS, SYMBOLS, Vocabulary


class TextCoder:
    """Turns the lines of one language into piece ids and back.

    Without a SentencePiece model a text is pieces with blanks between. With one it is raw text, and
    its most probable segmentation is taken.
    """

    def __init__(self, vocabulary: Vocabulary, spm_model: Path | None = None):
        self._vocabulary = vocabulary
        self._processor = None
        if spm_model is not None:
            try:
                self._processor = sentencepiece.SentencePieceProcessor(model_file=str(spm_model))
            except (OSError, RuntimeError) as error:
                raise InputError(f"{spm_model}: cannot read the SentencePiece model") from error

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text; a piece that the model does not know becomes <unk>."""
        if self._processor is None:
            return self._vocabulary.ids(text.split())
        return self._vocabulary.ids(self._processor.encode(text, out_type=str))

    def encode_phrase(self, text: str) -> tuple[int, ...]:
        """Return the ids of a constraint, which may begin with <s>."""
        start = SYMBOLS[BOS]
        if text.split()[:1] == [start]:
            return (BOS, *self.encode(text.lstrip().removeprefix(start)))
        return tuple(self.encode(text))

    def decode(self, ids: list[int]) -> str:
        """Return the text of ids."""
        pieces = self._vocabulary.pieces(ids)
        return " ".join(pieces) if self._processor is None else self._processor.decode(pieces)
