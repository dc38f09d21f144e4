"""The options of a Marian model: what its network is made of, or a refusal by name."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.yaml_text import parse_yaml

# Options and what they must be. An option that is not there has the first value.
_SUPPORTED: dict[str, tuple[object, ...]] = {
    "type": ("transformer",),
    "input-types": ([],),
    "factors-combine": ("sum",),
    "lemma-dim-emb": (0,),
    "lemma-dependency": ("",),
    "layer-normalization": (False,),
    "output-omit-bias": (False,),
    "right-left": (False,),
    "transformer-decoder-autoreg": ("self-attention", "rnn"),
    "transformer-decoder-ffn-depth": (0, 2),
    "transformer-ffn-activation": ("swish", "relu"),
    "transformer-ffn-depth": (2,),
    "transformer-no-affine": (False,),
    "transformer-no-bias": (False,),
    "transformer-no-projection": (False,),
    "transformer-pool": (False,),
    "transformer-postprocess-emb": ("d", ""),
    "transformer-rnn-projection": (False,),
    "transformer-tied-layers": ([],),
    "transformer-train-position-embeddings": (False,),
    "transformer-train-positions": (False,),
    "ulr": (False,),
}
_POST_NORM, _PRE_NORM = ("", "dan", ""), ("n", "da", "n")
_NORM_KEYS = ("transformer-preprocess", "transformer-postprocess", "transformer-postprocess-top")
# Once self-attention took its keys and values without the norm, in training too. Which release
# changed that is not in Marian's notes; the last one has the change.
_FIRST_TRUE_PRE_NORM = (1, 12)
# Sentences of more pieces than it was trained with are beyond a model. Files for translation alone
# do not tell how many these were.
_MAX_LENGTH = 200
_MOST_LENGTH = 5000


@dataclass(frozen=True)
class Options:
    """What a network is made of; each side's embedding is the name of an item."""

    size: int
    heads: int
    encoder_layers: int
    decoder_layers: int
    encoder_hidden: int
    decoder_hidden: int
    activation: str
    ssru: bool
    pre_norm: bool
    source_embedding: str
    target_embedding: str
    tied_output: bool
    source_pieces: int
    target_pieces: int
    max_length: int


def parse(path: Path, text: str) -> tuple[Options | None, list[str]]:
    """Return the options, and why the model is refused; with such reasons there are no options.

    Raises:
        InputError: it is no YAML of options.
    """
    tree = _tree(path, text)
    reasons = _unsupported(tree)
    numbers = _Numbers(tree)
    heads = numbers.count("transformer-heads", 8)
    size = numbers.count("dim-emb", 512)
    hidden = numbers.count("transformer-dim-ffn", 2048)
    of_decoder = tree.get("transformer-decoder-dim-ffn", 0) or hidden
    vocabularies = tree.get("dim-vocabs")
    if not (isinstance(vocabularies, list) and len(vocabularies) == 2):
        reasons.append(f"dim-vocabs is {vocabularies!r}, supported are two vocabularies")
        vocabularies = [1, 1]
    depths = [numbers.count(key, 6) for key in ("enc-depth", "dec-depth")]
    max_length = numbers.count("max-length", _MAX_LENGTH)
    for name, number in (
        ("transformer-decoder-dim-ffn", of_decoder),
        *(("dim-vocabs", number) for number in vocabularies),
    ):
        numbers.check(name, number)
    reasons += numbers.reasons
    if not numbers.reasons and (size % heads or size % 2 or size < 4):
        reasons.append(
            f"dim-emb is {size}; it must be even, and transformer-heads, {heads}, divide it"
        )
    tied_all, tied, tied_source = (
        bool(tree.get(f"tied-embeddings{suffix}", False)) for suffix in ("-all", "", "-src")
    )
    shared = tied_all or tied_source
    if shared and vocabularies[0] != vocabularies[1]:
        reasons.append(f"dim-vocabs is {vocabularies}; both sides have one embedding, so one size")
    if reasons:
        return None, reasons
    return Options(
        size=size,
        heads=heads,
        encoder_layers=depths[0],
        decoder_layers=depths[1],
        encoder_hidden=hidden,
        decoder_hidden=of_decoder,
        activation=tree.get("transformer-ffn-activation", "swish"),
        ssru=_recurrent(tree),
        pre_norm=_norms(tree) == _PRE_NORM,
        source_embedding="Wemb" if shared else "encoder_Wemb",
        target_embedding="Wemb" if shared else "decoder_Wemb",
        tied_output=tied_all or tied,
        source_pieces=vocabularies[0],
        target_pieces=vocabularies[1],
        max_length=min(max_length, _MOST_LENGTH),
    ), []


def _unsupported(tree: dict[str, Any]) -> list[str]:
    """Return why a network of these options can't be built, whatever its sizes."""
    reasons = [
        f"{key} is {tree[key]!r}, supported is {' or '.join(map(repr, allowed))}"
        for key, allowed in _SUPPORTED.items()
        if key in tree and tree[key] not in allowed
    ]
    norms = _norms(tree)
    if norms not in (_POST_NORM, _PRE_NORM):
        named = ", ".join(f"{key} {value!r}" for key, value in zip(_NORM_KEYS, norms, strict=True))
        reasons.append(
            f"{named}: supported is post-norm ('', 'dan', '') or pre-norm ('n', 'da', 'n')"
        )
    if _recurrent(tree) and tree.get("dec-cell") != "ssru":
        reasons.append(f"dec-cell is {tree.get('dec-cell')!r}, supported is 'ssru'")
    if norms == _PRE_NORM and _version(tree) < _FIRST_TRUE_PRE_NORM:
        reasons.append(
            f"version is {tree.get('version')!r}: pre-norm is supported from v1.12 on, as earlier "
            "ones do not normalise keys and values"
        )
    return reasons


def _norms(tree: dict[str, Any]) -> tuple[Any, ...]:
    """Return where the layers normalise, in the order of `_NORM_KEYS`."""
    return tuple(
        tree.get(key, default) for key, default in zip(_NORM_KEYS, _POST_NORM, strict=True)
    )


def _recurrent(tree: dict[str, Any]) -> bool:
    return bool(tree.get("transformer-decoder-autoreg", "self-attention") == "rnn")


class _Numbers:
    """Whole numbers of at least 1 among the options, and what is wrong with the others."""

    def __init__(self, tree: dict[str, Any]):
        self._tree = tree
        self.reasons: list[str] = []

    def count(self, key: str, default: int) -> int:
        """Return the number of a key, or 1 where its value is no such number."""
        return self.check(key, self._tree.get(key, default))

    def check(self, key: str, number: object) -> int:
        """Return `number`, or 1 where it is no whole number of at least 1."""
        if type(number) is int and number > 0:
            return number
        self.reasons.append(f"{key} is {number!r}; it must be a whole number of at least 1")
        return 1


def _tree(path: Path, text: str) -> dict[str, Any]:
    tree = parse_yaml(text, f"{path}: the options")
    if not isinstance(tree, dict):
        raise InputError(f"{path}: the options are no mapping; is it a model of Marian?")
    return tree


def _version(tree: dict[str, Any]) -> tuple[int, ...]:
    """Return the first two numbers of Marian's version, such as v1.9.56; (0,) without one."""
    numbers = re.match(r"v(\d+)\.(\d+)", str(tree.get("version")))
    return (0,) if numbers is None else tuple(int(number) for number in numbers.groups())
