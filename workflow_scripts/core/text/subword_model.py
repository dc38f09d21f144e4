"""The one way text becomes sub-word pieces and comes back, whatever tokenizer a model has.

A SentencePiece model, or a tokenizer.json of the library `tokenizers`: BPE or Unigram, with blanks
as U+2581 (Metaspace) or in bytes (byte-level BPE). Pieces are spelled as SentencePiece spells them.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import sentencepiece

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import copy_file, write_text
from workflow_scripts.core.files.json_text import parse_json
from workflow_scripts.core.text.piece_spelling import WORD_MARK, spelled

# Nats by which SentencePiece holds an unknown character less likely than its rarest piece.
_UNKNOWN_PENALTY = 10.0
_UNKNOWN = "<unk>"
# Before the name of a token that no text may hold; a code point that is no character.
_NO_TEXT = "\U0010ffff"
_VOCABULARY = "vocab.json"
_TOKENIZER = "tokenizer.json"
SAVE = "write tokenizer.json with AutoTokenizer.from_pretrained(…).save_pretrained(…)"


class SubwordModel:
    """A tokenizer.

    A name of a special token, such as `</s>`, is plain text in a text: it never becomes the token.

    Args:
        path: of a SentencePiece model, of a tokenizer.json, or of a vocab.json of byte-level BPE
            with merges.txt beside it. The first byte tells which. `add_prefix_space` of a
            tokenizer_config.json beside a tokenizer.json or vocab.json holds for byte-level BPE.

    Attributes:
        path: the same.
        unmarked_start: whether the first word of a text has no mark of a blank, so that a word is
            written otherwise there than inside of a sentence.

    Raises:
        InputError: the file is missing, or is not what its first byte says, or of another kind.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self._inner: _SentencePiece | _Tokenizer
        self._inner = _Tokenizer(self.path) if _is_json(self.path) else _SentencePiece(self.path)
        self.unmarked_start = self._inner.unmarked_start

    def pieces(self, text: str) -> list[str]:
        """Return the pieces of a text; SentencePiece's Viterbi ones."""
        return self._inner.pieces(text)

    def phrase(self, text: str) -> list[str]:
        """Return the pieces of a text that stands behind a blank inside of a sentence."""
        return self.pieces(f" {text.lstrip()}" if self.unmarked_start else text)

    @property
    def at_start(self) -> Callable[[str], list[str]] | None:
        """What gives the pieces of a text that begins a sentence, where `phrase` gives others."""
        return self.pieces if self.unmarked_start else None

    def text(self, pieces: list[str]) -> str:
        """Join pieces to text again."""
        return self._inner.text(pieces)

    def ids(self) -> dict[str, int]:
        """Return the tokenizer's own id of every piece and special token, in their order."""
        return self._inner.ids()

    def names(self) -> dict[str, str]:
        """Return the pieces by what the library `tokenizers` calls them; empty otherwise."""
        return self._inner.names()

    def vocabulary(self) -> list[str]:
        """Return the pieces that a segmentation can hold, in the model's order."""
        special = self._inner.special()
        return [piece for piece in self.ids() if piece not in special]

    def nbest(self, text: str, n: int) -> list[tuple[list[str], float]]:
        """Return up to `n` best segmentations and their log-probabilities (nats), best first.

        Only unigram models of SentencePiece have them; the model's own sampler is not used because
        it can't be seeded per sentence.

        Raises:
            InputError: it is a tokenizer.json.
        """
        if isinstance(self._inner, _Tokenizer):
            raise InputError(
                f"{self.path}: a tokenizer.json has one segmentation of a text; sampled ones need "
                "a unigram model of SentencePiece"
            )
        return self._inner.nbest(text, n)


def copy_model(path: Path, copy: Path) -> None:
    """Copy a tokenizer as one file, with what stands beside a vocab.json or tokenizer.json.

    Raises:
        InputError: as `SubwordModel`.
    """
    if path.name == _VOCABULARY or _prefix_space(path) is not None:
        write_text(copy, json.dumps(_parts(path)))
    else:
        copy_file(path, copy)


def sentence_piece(path: Path) -> sentencepiece.SentencePieceProcessor:
    """Open a SentencePiece model.

    Raises:
        InputError: the file is missing or is no SentencePiece model.
    """
    try:
        return sentencepiece.SentencePieceProcessor(model_file=str(path))
    except (OSError, RuntimeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot read the SentencePiece model: {error}") from error


def _is_json(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(1) == b"{"
    except OSError:
        return False  # SentencePiece says what is wrong


class _SentencePiece:
    unmarked_start = False

    def __init__(self, path: Path):
        self._processor = sentence_piece(path)
        self.pieces = self._processor.encode_as_pieces
        self.text = self._processor.decode_pieces
        self._scores: dict[str, float] = {}

    def ids(self) -> dict[str, int]:
        processor = self._processor
        return {processor.id_to_piece(index): index for index in range(len(processor))}

    def names(self) -> dict[str, str]:
        return {}

    def special(self) -> set[str]:
        processor = self._processor
        return {
            piece
            for piece, index in self.ids().items()
            if processor.is_control(index) or processor.is_unknown(index)
        }

    def nbest(self, text: str, n: int) -> list[tuple[list[str], float]]:
        # The library gives scores only with a protocol buffer per piece, ten times slower.
        # A run of unknown characters is one piece, scored character by character.
        if not self._scores:
            known = self.ids().keys() - self.special()
            score_of, id_of = self._processor.get_score, self._processor.piece_to_id
            self._scores = {piece: score_of(id_of(piece)) for piece in known}
        score, unknown = self._scores.get, min(self._scores.values()) - _UNKNOWN_PENALTY
        return [
            (pieces, sum(score(piece, unknown * len(piece)) for piece in pieces))
            for pieces in self._processor.nbest_encode(text, nbest_size=n, out_type=str)
        ]


class _Tokenizer:
    """A tokenizer.json.

    `_names`: the spelling of each token by its id; `_tokens`: the token of each spelling, as the
    library has it.
    """

    def __init__(self, path: Path):
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # threads do not survive a fork
        from tokenizers import Tokenizer  # only such models need it

        parts = _parts(path)
        byte_level = _check(path, parts)
        parts |= {"truncation": None, "padding": None}
        try:
            added = {token["content"]: token["special"] for token in parts["added_tokens"]}
            self._special = {token for token, special in added.items() if special}
            unknown = _without_special(parts, self._special)
            self._tokenizer = Tokenizer.from_str(json.dumps(parts))
        except Exception as error:  # the library raises no other kind
            raise InputError(f"{path}: cannot read the tokenizer: {error}") from error
        pieces = self._tokenizer.get_vocab(with_added_tokens=False)
        if len(pieces) < len(parts["model"]["vocab"]):
            raise InputError(f"{path}: model.vocab has a piece twice")
        self._tokenizer.encode_special_tokens = True
        self._special |= {_UNKNOWN}
        self._names: dict[int, str] = {}
        self._tokens: dict[str, str] = {}
        vocabulary = self._tokenizer.get_vocab(with_added_tokens=True)
        for token, index in sorted(vocabulary.items(), key=lambda item: item[1]):
            name = token.removeprefix(_NO_TEXT)
            if name == unknown:
                name = _UNKNOWN
            elif name in added:
                name = name if added[name] else name.replace(" ", WORD_MARK)
            elif byte_level:
                try:
                    name = spelled(token)
                except KeyError as error:
                    raise InputError(
                        f"{path}: {token!r} of the vocabulary of byte-level BPE has {error}, which "
                        "stands for no byte; the file is damaged"
                    ) from None
            if name in self._tokens:
                raise InputError(f"{path}: two tokens are both spelled {name!r}")
            self._names[index], self._tokens[name] = name, token.removeprefix(_NO_TEXT)
        self.unmarked_start = not self._shown("a").startswith((WORD_MARK, "\u0120"))

    def _shown(self, text: str) -> str:
        """Return what the tokenizer makes of a word before it looks for pieces."""
        normalizer, before = self._tokenizer.normalizer, self._tokenizer.pre_tokenizer
        text = normalizer.normalize_str(text) if normalizer else text
        return before.pre_tokenize_str(text)[0][0] if before else text

    def pieces(self, text: str) -> list[str]:
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids
        return [self._names[index] for index in ids]

    def text(self, pieces: list[str]) -> str:
        tokens = [self._tokens.get(piece, piece) for piece in pieces]
        return self._tokenizer.decoder.decode(tokens).removeprefix(" ")

    def ids(self) -> dict[str, int]:
        return {name: index for index, name in self._names.items()}

    def names(self) -> dict[str, str]:
        return {token: name for name, token in self._tokens.items()}

    def special(self) -> set[str]:
        return self._special


def _parts(path: Path) -> dict[str, Any]:
    """Return what is in a tokenizer.json, or would be for a vocab.json and its merges.txt.

    Raises:
        InputError: it is neither.
    """
    try:
        parts = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot read the tokenizer: {error}") from error
    if isinstance(parts.get("model"), dict):
        parts["model"].setdefault("type", "BPE" if "merges" in parts["model"] else "Unigram")
        prefix = _prefix_space(path)
        for step in () if prefix is None else _steps(parts.get("pre_tokenizer"), "pretokenizers"):
            if step.get("type") == "ByteLevel":
                step["add_prefix_space"] = prefix
        return {"added_tokens": [], **parts}
    merges = path.with_name("merges.txt")
    if not parts or not all(type(index) is int for index in parts.values()):
        raise InputError(f'{path}: no tokenizer.json: it has no object "model"; {SAVE}')
    if not merges.is_file():
        raise InputError(
            f"{path} is a vocabulary, and has no merges.txt beside it; put it there, or {SAVE}"
        )
    return _of_merges(path, merges, parts)


def _of_merges(path: Path, merges: Path, vocabulary: Iterable[str]) -> dict[str, Any]:
    from tokenizers import Tokenizer
    from tokenizers.decoders import ByteLevel as Decoder
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel

    try:
        tokenizer = Tokenizer(BPE.from_file(str(path), str(merges)))
    except Exception as error:  # the library raises no other kind
        raise InputError(f"{path} and {merges.name}: cannot be read: {error}") from error
    prefix = ByteLevel(add_prefix_space=_prefix_space(path) or False)
    tokenizer.pre_tokenizer, tokenizer.decoder = prefix, Decoder()
    names = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    known = set(vocabulary)
    tokenizer.add_special_tokens([name for name in names if name in known])
    return json.loads(tokenizer.to_str())


def _prefix_space(path: Path) -> bool | None:
    """Return `add_prefix_space` of the tokenizer_config.json beside a tokenizer, None if it is not.

    Raises:
        InputError: that file can't be read.
    """
    settings = path.with_name("tokenizer_config.json")
    if path.name not in (_TOKENIZER, _VOCABULARY) or not settings.exists():
        return None
    try:
        chosen = parse_json(settings.read_text(encoding="utf-8")).get("add_prefix_space")
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(f"{settings}: cannot be read: {error}") from error
    return None if chosen is None else bool(chosen)


def _without_special(parts: dict[str, Any], special: set[str]) -> str | None:
    """Make special tokens no pieces of a Unigram model; return the name of the unknown piece.

    The library would find them in a text: they are pieces of the best scores.
    """
    model = parts["model"]
    if model["type"] != "Unigram":
        return model.get("unk_token")
    pieces = model["vocab"]
    unknown = None if model.get("unk_id") is None else pieces[model["unk_id"]][0]
    hidden = special & {piece for piece, _ in pieces}
    model["vocab"] = [[_NO_TEXT * (piece in hidden) + piece, score] for piece, score in pieces]
    parts["added_tokens"] = [t for t in parts["added_tokens"] if t["content"] not in hidden]
    return unknown


def _check(path: Path, parts: dict[str, Any]) -> bool:
    """Return whether a tokenizer is byte-level BPE.

    Raises:
        InputError: its pieces do not tell where blanks stand, or its kind is another.
    """
    kind = parts["model"]["type"]
    if kind not in ("BPE", "Unigram"):
        raise InputError(f"{path}: model.type is {kind!r}; supported are BPE and Unigram")
    steps = list(_steps(parts.get("decoder"), "decoders"))
    if any(step.get("type") == "ByteLevel" for step in steps):
        return True
    if not any(WORD_MARK in json.dumps(step, ensure_ascii=False) for step in steps):
        raise InputError(
            f"{path}: its decoder is neither ByteLevel nor one with {WORD_MARK} for a blank "
            "(Metaspace), so its pieces do not tell where words begin; it is not supported"
        )
    return False


def _steps(part: Any, key: str) -> Iterator[dict[str, Any]]:
    """Yield the steps of a part of a tokenizer, which may be a sequence with the steps at `key`."""
    if isinstance(part, dict):
        if isinstance(part.get(key), list):
            for step in part[key]:
                yield from _steps(step, key)
        else:
            yield part
