"""Text to piece ids and back, for the command lines: pieces with blanks between, or raw text."""

from collections.abc import Callable, Iterable
from pathlib import Path

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.rewriter_card import CARD
from workflow_scripts.core.text.subword_model import SubwordModel
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.vocabulary import BOS, SYMBOLS, UNK, Vocabulary


class TextCoder:
    """Turns the lines of one language into piece ids and back.

    Without a sub-word model a text is pieces with blanks between. With one it is raw text, and its
    most probable segmentation is taken.

    Args:
        vocabulary: of the side of the model.
        spm_model: the sub-word model of the language, of whatever kind.
        ids: turns pieces into ids; as the vocabulary does, if not given.
        prefix: stands in front of every raw text that has pieces.

    Attributes:
        raw: whether texts are raw text.
        unmarked_start: whether words are written otherwise at the start of a text (`SubwordModel`).
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        spm_model: Path | None = None,
        ids: Callable[[Iterable[str]], list[int]] | None = None,
        prefix: str = "",
    ):
        self._vocabulary = vocabulary
        self._ids = vocabulary.ids if ids is None else ids
        self._text = None if spm_model is None else SubwordModel(spm_model)
        self._prefix = prefix
        self.raw = self._text is not None
        self.unmarked_start = self._text is not None and self._text.unmarked_start

    def pieces(self, text: str) -> list[str]:
        """Return the pieces of a text; a text of blanks has none."""
        if self._text is None or not text.strip():
            return text.split()
        return self._text.pieces(self._prefix + text)

    def phrase(self, text: str) -> list[str]:
        """Return the pieces of a text that stands behind a blank inside of a sentence."""
        if self._text is None or not text.strip():
            return text.split()
        return self._text.phrase(text)

    def ids(self, pieces: Iterable[str]) -> list[int]:
        """Return the ids of pieces; one that the model does not know becomes <unk>."""
        return self._ids(pieces)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text; a piece that the model does not know becomes <unk>."""
        return self.ids(self.pieces(text))

    def encode_phrase(self, text: str) -> tuple[int, ...]:
        """Return the ids of a constraint, which may begin with <s>."""
        start = SYMBOLS[BOS]
        if text.split()[:1] == [start]:
            return (BOS, *self.encode(text.lstrip().removeprefix(start)))
        return tuple(self.ids(self.phrase(text)))

    def decode(self, ids: list[int]) -> str:
        """Return the text of ids."""
        pieces = self._vocabulary.pieces(ids)
        return " ".join(pieces) if self._text is None else self._text.text(pieces)


def source_coder(model: Model, spm_model: Path | None = None) -> TextCoder:
    """Return the coder of a model's source side: of pieces, or of raw text with `spm_model`.

    Raises:
        InputError: the model can't read its prefix, or sources are pieces and it has one.
    """
    coder = TextCoder(model.source_vocab, spm_model, model.source_ids, model.prefix)
    if model.prefix and not coder.raw:
        raise InputError(
            f"{CARD}: a prefix stands before plain text, not before pieces; give --raw"
        )
    if coder.raw and UNK in coder.encode(model.prefix):
        raise InputError(
            f"{CARD}: the model can't read its prefix {model.prefix!r}; take the one of its "
            "description"
        )
    return coder


def target_coder(model: Model, spm_model: Path | None = None) -> TextCoder:
    """Return the coder of a model's target side: of pieces, or of raw text with `spm_model`."""
    return TextCoder(model.target_vocab, spm_model)


def raw_coders(
    model: Model, spm_source: Path | None = None, spm_target: Path | None = None
) -> tuple[TextCoder, TextCoder]:
    """Return the coders of raw text of both sides, by the SentencePiece models in its folder.

    Args:
        model: of whatever kind.
        spm_source: takes the place of that of the source.
        spm_target: takes the place of that of the target.

    Raises:
        InputError: this kind of model brings none, and one is not given.
    """
    spm_source, spm_target = spm_source or model.source_spm, spm_target or model.target_spm
    if spm_source is None or spm_target is None:
        raise InputError(
            "this model's folder has no SentencePiece models of its own: name those of both sides "
            "(--spm-source, --spm-target), or, if it is one of CTranslate2, copy its "
            "tokenizer.json or SentencePiece model into the folder"
        )
    return source_coder(model, spm_source), target_coder(model, spm_target)
