"""The pieces of an encoder-decoder of Hugging Face, by the rows of its tables.

The core has <pad>, <unk>, <s> and </s> first, and what occurs in no text last. Its <s> is the last
token that the decoder reads before an output: the code of a language, or whatever the class begins
with. What stands before that is the lead.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.model_folder import HUGGING_FACE, SETTINGS, ModelFiles
from workflow_scripts.core.text.language_codes import LISTED
from workflow_scripts.core.text.subword_model import SAVE, SubwordModel
from workflow_scripts.nmt.loaders.hugging_face_config import (
    FAMILIES,
    read_if_there,
    read_object,
)
from workflow_scripts.nmt.network import Marks
from workflow_scripts.nmt.target_tag import read_languages, read_tag
from workflow_scripts.nmt.vocabulary import BOS, EOS, SYMBOLS, Vocabulary

# So many rows of a table may stand for no piece: tables are filled up to round sizes.
_MOST_FILLERS = 64
_OTHER = "it belongs to another model"
_TOKENIZER = "tokenizer_config.json"
# How many tokens PEGASUS has before SentencePiece's from the third on.
_OFFSET = 103
_NO_TEXT = (*SYMBOLS, "<mask>")
# The classes of tokenizers that put a code where `_marks` has it; others may put it elsewhere. A
# tokenizer may have no class of its own.
_CLASSES = {
    "m2m_100": ("M2M100Tokenizer", "NllbTokenizer"),
    "mbart": ("MBartTokenizer", "MBart50Tokenizer"),
}
_NO_CLASS = ("", "PreTrainedTokenizer", "TokenizersBackend")


@dataclass(frozen=True)
class Order:
    """The pieces of one side, and which rows of the model's tables [V, ...] they have."""

    vocabulary: Vocabulary
    rows: Tensor


@dataclass(frozen=True)
class Orders:
    """The pieces of both sides, and the marks of their sentences.

    `languages`: the codes of source and target, if the model has codes for both.
    """

    source: Order
    target: Order
    marks: Marks
    languages: tuple[str, str] | None = None


def read_orders(folder: Path, files: ModelFiles, config: dict[str, Any]) -> Orders:
    """Return the pieces of a folder whose config is supported.

    Raises:
        InputError: a file is missing or broken, or of another model, or no language is chosen.
    """
    if files.kind == HUGGING_FACE:
        return _of_marian(folder, files, config)
    size = config["vocab_size"]
    path = folder / (files.source_spm or "")
    ids, special = _pieces(folder, files, config)
    if max(ids.values(), default=0) >= size or size - len(ids) > _MOST_FILLERS:
        raise InputError(
            f"{path}: has {len(ids)} pieces with ids up to {max(ids.values(), default=0)}, "
            f"vocab_size of the config is {size}; {_OTHER}"
        )
    names: list[str | None] = [None] * size
    for name, row in ids.items():
        names[row] = name
    _require_named(folder, files, config, names)
    without_text = {*special, *config["suppressed"]}
    pattern = FAMILIES[config["model_type"]].code
    if pattern is None:
        if SETTINGS in files.configs:
            raise InputError(
                f"{folder / SETTINGS}: a model of {config['model_type']} has no languages to "
                "choose; take the file away"
            )
        start = config["pad_token_id"]
        marks = Marks()
        if config["model_type"] == "bart":
            start, marks = ids.get("<s>", size), Marks(first=BOS, lead=(EOS,))
        order = _order(path, names, without_text, config, start)
        return Orders(order, order, marks)
    codes = {name: row for name, row in ids.items() if re.fullmatch(pattern, name)}
    source, target = read_languages(folder, files, sorted(codes))
    order = _order(path, names, without_text | set(codes.values()), config, codes[target])
    code = BOS if source == target else order.vocabulary.ids([source])[0]
    marks = _marks(folder, files, config, code, codes)
    return Orders(order, order, marks, (source, target))


def _marks(
    folder: Path, files: ModelFiles, config: dict[str, Any], code: int, codes: dict[str, int]
) -> Marks:
    """Return where the `code` of a source stands, and what the decoder reads before <s>."""
    start, end = config["decoder_start_token_id"], config["eos_token_id"]
    tokenizer = read_if_there(folder, files, _TOKENIZER)
    own = str(tokenizer.get("tokenizer_class") or config.get("tokenizer_class") or "")
    named, classes = own.removesuffix("Fast"), _CLASSES[config["model_type"]]
    if named not in (*classes, *_NO_CLASS):
        raise InputError(
            f"{folder / _TOKENIZER}: tokenizer_class is {own!r}, supported is "
            f"{' or '.join(classes)}; others may put the codes of languages elsewhere"
        )
    if config["model_type"] == "m2m_100":
        if tokenizer.get("legacy_behaviour"):
            return Marks(end=(EOS, code), lead=(EOS,))
        return Marks(first=code, lead=(EOS,))
    # mBART-25 has the code behind the source, and its decoder reads a code first; some mix both.
    of_25, of_50 = classes
    by_start = of_50 if start == end else of_25 if start in codes.values() else None
    chosen = named if named in classes else by_start
    if chosen is not None and (start is None or by_start is not None):
        lead = (EOS,) if (by_start or chosen) == of_50 else ()
        return Marks(code, (EOS,), lead) if chosen == of_50 else Marks(None, (EOS, code), lead)
    raise InputError(
        f"{folder / files.configs[0]}: decoder_start_token_id{config['start_of']} is {start!r}; it "
        f"must be eos_token_id, {end} (mBART-50), or the id of a language (mBART-25)"
    )


def _require_named(
    folder: Path, files: ModelFiles, config: dict[str, Any], names: list[str | None]
) -> None:
    """Raise unless the ids of the config are those of the tokens that the tokenizer names."""
    tokenizer = read_if_there(folder, files, _TOKENIZER)
    for kind, default in (("pad", "<pad>"), ("eos", "</s>")):
        row, name = config[f"{kind}_token_id"], tokenizer.get(f"{kind}_token") or default
        if isinstance(name, dict):
            name = name.get("content")
        found = names[row] if row < len(names) else None
        if found != name:
            right = f", {names.index(name)}" if name in names else ""
            raise InputError(
                f"{folder / files.configs[0]}: {kind}_token_id is {row}, which is {found!r}; it "
                f"must be the id of {name!r}{right}"
            )


def _order(
    path: Path, names: list[str | None], special: set[int], config: dict[str, Any], start: int
) -> Order:
    """Return the order in which the row `start` is the core's <s>."""
    pad, end = config["pad_token_id"], config["eos_token_id"]
    if max(pad, end, start) >= len(names) or "<unk>" not in names:
        raise InputError(
            f"{path}: no <unk>, or no pieces with the ids of pad_token_id ({pad}), eos_token_id "
            f"({end}) and the first token of the decoder ({start}); {_OTHER}"
        )
    symbols = [pad, names.index("<unk>"), start, end]
    others = [row for row in range(len(names)) if row not in symbols]
    words = [row for row in others if names[row] is not None and row not in special]
    rest = sorted(set(others).difference(words))
    shown = [_shown(names[row], row) for row in (*words, *rest)]
    try:
        vocabulary = Vocabulary([*SYMBOLS, *shown], len(SYMBOLS) + len(words))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return Order(vocabulary, torch.tensor([*symbols, *words, *rest]))


def _shown(name: str | None, row: int) -> str:
    """Return the name of a piece in the core; no text has a piece with a blank."""
    if name is None:
        return f"<pad{row}>"
    return f"{name} of the model" if name in SYMBOLS else name


def _pieces(
    folder: Path, files: ModelFiles, config: dict[str, Any]
) -> tuple[dict[str, int], set[int]]:
    """Return the rows of all pieces by their names, and those that occur in no text."""
    path = folder / (files.source_spm or "")
    text = SubwordModel(path)
    pieces = text.ids()
    if path.suffix == ".json":
        known = {*text.vocabulary()}
        ids, special = pieces, {name: row for name, row in pieces.items() if name not in known}
    elif files.vocabularies:
        ids = _of_json(folder / files.vocabularies[0])
        special = _added(folder, files, ids)
    elif (config["model_type"], path.name) == ("pegasus", "spiece.model"):
        offset = read_if_there(folder, files, _TOKENIZER).get("offset", _OFFSET)
        if type(offset) is not int or not 2 <= offset <= config["vocab_size"]:
            raise InputError(
                f"{folder / _TOKENIZER}: offset is {offset!r}; it must be a whole number from 2 to "
                f"vocab_size, {config['vocab_size']}"
            )
        ids = {piece: row + offset if row > 1 else row for piece, row in pieces.items()}
        # Its own names of the rows between: two masks, then tokens that no text has.
        masks = {"<mask_1>": 2, "<mask_2>": 3}
        special = masks | {f"<unk_{row - 2}>": row for row in range(4, offset + 2)}
    elif config["model_type"] in _CLASSES and path.name == "sentencepiece.bpe.model":
        # fairseq has four symbols of its own; then come SentencePiece's pieces from the fourth on.
        shifted = {piece: row + 1 for piece, row in pieces.items() if row > 2}
        ids = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3} | shifted
        special = _added(folder, files, ids)
    else:
        raise InputError(
            f"{path}: a model of {config['model_type']} may have other ids than this file; {SAVE}"
        )
    if other := [name for name, row in special.items() if ids.get(name, row) != row]:
        raise InputError(f"{path}: {other[0]!r} has another id there; {_OTHER}")
    ids |= special
    if len(set(ids.values())) < len(ids) or min(ids.values()) < 0:
        raise InputError(f"{path}: two pieces have one id; {_OTHER}")
    return ids, {*special.values(), *(ids[name] for name in _NO_TEXT if name in ids)}


def _of_json(path: Path) -> dict[str, int]:
    ids = read_object(path)
    _require_ids(path, ids)
    return ids


def _added(folder: Path, files: ModelFiles, ids: dict[str, int]) -> dict[str, int]:
    """Return the ids of tokens that stand in the files beside a vocabulary.

    Those that are listed without an id follow the vocabulary.
    """
    path = folder / _TOKENIZER
    settings = read_if_there(folder, files, _TOKENIZER)
    symbols = read_if_there(folder, files, "special_tokens_map.json")
    try:
        added = {
            token["content"]: int(row)
            for row, token in (settings.get("added_tokens_decoder") or {}).items()
            if token["special"]
        }
        added |= read_if_there(folder, files, "added_tokens.json")
        key = "additional_special_tokens"
        codes = LISTED.get(str(settings.get("language_codes")), "").split()
        listed = [
            name if isinstance(name, str) else name["content"]
            for name in settings.get(key) or symbols.get(key) or [f"__{code}__" for code in codes]
        ]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: its special tokens can't be read: {error!r}") from error
    _require_ids(path, added)
    follow = {name: len(ids) + place for place, name in enumerate(listed) if name not in ids}
    return follow | added


def _require_ids(path: Path, ids: dict[str, Any]) -> None:
    if wrong := [name for name, row in ids.items() if type(row) is not int]:
        raise InputError(f"{path}: {wrong[0]!r} has no whole number as its id")


def _of_marian(folder: Path, files: ModelFiles, config: dict[str, Any]) -> Orders:
    names, sizes = files.vocabularies, (config["vocab_size"], config["decoder_vocab_size"])
    one = len(names) == 1 and sizes[0] == sizes[1]
    source = _side_of_marian(folder / names[0], sizes[0], config)
    target = source if one else _side_of_marian(folder / names[-1], sizes[1], config)
    return Orders(source, target, Marks(first=read_tag(folder, files, source.vocabulary)))


def _side_of_marian(path: Path, size: int, config: dict[str, Any]) -> Order:
    """Return the order of a JSON object of piece -> id; the ids must be 0..size-1."""
    ids = read_object(path)
    by_id: dict[int, str | None] = {row: name for name, row in ids.items() if type(row) is int}
    if not len(by_id) == len(ids) == size or sorted(by_id) != list(range(size)):
        raise InputError(
            f"{path}: must have {size} pieces with the ids 0 to {size - 1}, as the config says; "
            f"it has {len(ids)}"
        )
    return _order(path, [by_id[row] for row in range(size)], set(), config, config["pad_token_id"])
