"""Loading of folders of CTranslate2, such as its converters write them, and of Argos packages."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.json_text import parse_json
from workflow_scripts.core.files.model_folder import ModelFiles
from workflow_scripts.core.text.subword_model import SubwordModel
from workflow_scripts.nmt.attention import CrossAttention, SelfAttention
from workflow_scripts.nmt.blocks import FeedForward, Frame, Norm
from workflow_scripts.nmt.linear import Linear
from workflow_scripts.nmt.loaders import ctranslate2_file
from workflow_scripts.nmt.loaders.ctranslate2_file import Content
from workflow_scripts.nmt.loaders.description import Opened, Raw, Summary
from workflow_scripts.nmt.loaders.parameters import Parameters
from workflow_scripts.nmt.network import (
    DecoderLayer,
    Embedding,
    EncoderLayer,
    Marks,
    Network,
    Sizes,
    output_layer,
)
from workflow_scripts.nmt.positions import sinusoids
from workflow_scripts.nmt.target_tag import read_languages, read_tag
from workflow_scripts.nmt.vocabulary import BOS, PAD, SYMBOLS, Vocabulary

# What its engine adds to the variance where the config does not say it.
_NORM_EPSILON = 1e-5
# How many tokens an output may have for each token of its source, as with Marian.
_LONGEST_OUTPUT = 3.0
# How many positions there are where they are computed: its engine's `max_input_length`.
_POSITIONS = 1024
_SPEC = "TransformerSpec"
_REVISIONS = range(3, 8)
_SIDES = ("encoder", "decoder")
_TABLES = ("encoder/embeddings_0/weight", "decoder/embeddings/weight")
_OUTPUT = "decoder/projection"
_ACTIVATIONS = ("ReLU", "GELUTanh", "Swish", "GELU", "GELUSigmoid", "Tanh", "Sigmoid")
_SUPPORTED = {"ReLU": "relu", "Swish": "swish", "GELU": "gelu"}
# Names of variables that only models with other parts have.
_OTHER_PARTS = {
    "relative positions": r"/relative_",
    "rotary positions": r"/rotary_",
    "attention with other heads for keys": r"/(num_heads_kv|head_dim)$",
    "a sliding window": r"/sliding_window$",
    "norms of queries and keys": r"/[qkv]_norm/",
    "gated feed-forward blocks": r"/linear_0_noact/",
    "AWQ weights": r"/weight_zero$",
    "projections around the layers": r"/project_(in|out)/",
    "scaled outputs": r"/scale_outputs$",
    "several features of a source": r"/embeddings_[1-9]",
    "scaled layers": r"/layer_scalar$",
    "capped logits": r"/final_logit_softcapping$",
    "scaled queries": r"/queries_scale$",
}
_FLAGS = {"ALiBi": "decoder/alibi", "multi-query attention": "encoder/multi_query_attention"}
_ZERO_START = "decoder/start_from_zero_embedding"
_PADS = ("<pad>", "<blank>")
# Codes of languages of M2M100, NLLB and mBART; and what else such vocabularies have.
_CODE = re.compile(r"__[a-z]{2,3}__|[a-z]{3}_[A-Z][a-z]{3}|[a-z]{2}_[A-Z]{2}")
_NO_TEXT = re.compile(rf"{_CODE.pattern}|madeupword\d+")
_DEFAULTS = {
    "unk_token": "<unk>",
    "bos_token": "<s>",
    "eos_token": "</s>",
    "decoder_start_token": "<s>",
    "add_source_bos": False,
    "add_source_eos": False,
    "layer_norm_epsilon": None,
}
_OPTIONAL = ("bos_token", "decoder_start_token", "layer_norm_epsilon")


def opened(folder: Path, files: ModelFiles) -> Opened:
    """Return the parameters by CTranslate2's names, as they are in the file.

    What has several names is one tensor.
    """
    content = ctranslate2_file.read(folder / files.weights)
    if reasons := _not_supported(content):
        raise InputError(f"{content.path}: not supported: {'; '.join(reasons)}")
    config = _config(folder, files, content)
    names = files.vocabularies
    paths = (folder / names[0], folder / names[-1])
    ends = _ends(folder, files, content, config)
    starts = (config["bos_token"], ends.start)
    texts = (files.source_spm, files.target_spm)
    source, target = (
        _Order(path, _rows(content, table), config, ends, start, _names(folder, text))
        for path, table, start, text in zip(paths, _TABLES, starts, texts, strict=True)
    )
    if ends.first is not None:
        first: int | None = source.id(ends.first)
    else:  # A code of a language stands behind the source, or else the user may choose a tag.
        first = None if len(ends.end) > 1 else read_tag(folder, files, source.vocabulary)
    marks = Marks(
        first,
        tuple(map(source.id, ends.end)),
        tuple(map(target.id, ends.lead)),
    )

    def build(tensors: dict[str, Tensor]) -> Network:
        parameters = Parameters(content.path, dict(tensors), content.scaled)
        network = _Reader(parameters, content, config, source, target).network(marks)
        parameters.check_all_used()
        return network

    raw = Raw(content.weights(), frozenset(), build)
    return Opened(raw, source.vocabulary, target.vocabulary)


def stored(folder: Path, files: ModelFiles) -> dict[str, Tensor]:
    """Return the weights of the file by their names there, each once."""
    return ctranslate2_file.read(folder / files.weights).stored()


def saved(folder: Path, files: ModelFiles, tensors: dict[str, Tensor]) -> tuple[str, bytes]:
    """Refuse to write other parameters.

    Raises:
        InputError: always.
    """
    raise InputError(
        f"{folder}: a model of CTranslate2 can be used, not trained on; take the model that it was "
        "converted from"
    )


def summary(folder: Path, files: ModelFiles) -> Summary:
    """Return what is known of a model without its weights, and why it can't be loaded.

    Raises:
        InputError: the file can't be read.
    """
    content = ctranslate2_file.read(folder / files.weights)
    if reasons := _not_supported(content):
        return Summary(refused=reasons)
    source, target = (_rows(content, table) for table in _TABLES)
    return Summary(
        layers=(_layers(content, "encoder"), _layers(content, "decoder")),
        size=_size(content),
        vocabulary=(source, target),
    )


def _not_supported(content: Content) -> list[str]:
    """Return which parts of a model are missing, or are not supported."""
    if content.spec != _SPEC:
        return [f"the model is a {content.spec}, supported is {_SPEC} (an encoder and a decoder)"]
    if content.revision not in _REVISIONS:
        return [f"{_SPEC} of revision {content.revision}, supported are 3 to 7"]
    names = {*content.variables, *content.aliases}
    reasons = [
        f"{what} ({found})"
        for what, pattern in _OTHER_PARTS.items()
        if (found := min(filter(re.compile(pattern).search, names), default=None))
    ]
    reasons += [f"{what} ({flag})" for what, flag in _FLAGS.items() if content.scalar(flag, 0)]
    if plain := sorted(n for n in names if n.endswith("gamma") and n[:-5] + "beta" not in names):
        reasons.append(f"RMS norms, which have no beta ({plain[0]})")
    for side in _SIDES:
        number = int(_option(content, side, "activation", 0))
        name = dict(enumerate(_ACTIVATIONS)).get(number, f"unknown ({number})")
        if name not in _SUPPORTED:
            reasons.append(f"{side}/activation is {name}, supported is {', '.join(_SUPPORTED)}")
    reasons += [
        f"{name} is missing, or no matrix"
        for name in (*_TABLES, f"{_OUTPUT}/weight")
        if (variable := content.find(name)) is None or len(variable.shape) != 2
    ]
    if reasons:
        return reasons
    size = _size(content)
    for side in _SIDES:
        heads = int(_option(content, side, "num_heads", 0))
        if heads < 1 or size % heads or size % 2:
            reasons.append(f"{side}/num_heads is {heads}; it must divide the size, {size}")
        if not _layers(content, side):
            reasons.append(f"{side}/layer_0 is missing")
    return reasons


def _option(content: Content, side: str, name: str, default: float) -> float:
    """Return a number that a side has; before revision 5 both have one."""
    return content.scalar(f"{side}/{name}", content.scalar(name, default))


def _layers(content: Content, side: str) -> int:
    found = [re.match(rf"{side}/layer_(\d+)/", name) for name in content.variables]
    return len({match[1] for match in found if match})


def _rows(content: Content, table: str) -> int:
    variable = content.find(table)
    assert variable is not None
    return variable.shape[0]


def _size(content: Content) -> int:
    variable = content.find(_TABLES[1])
    assert variable is not None
    return variable.shape[1]


def _read_json(path: Path) -> Any:
    try:
        return parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as JSON: {error}") from error


def _config(folder: Path, files: ModelFiles, content: Content) -> dict[str, Any]:
    """Return the keys of `config.json`; before version 6 the weights' file has them."""
    if content.version < 6:
        config: dict[str, Any] = dict(_DEFAULTS)
        for key in ("unk_token", "bos_token", "eos_token"):
            config[key] = content.text(key, config[key])
        for key in ("source_bos", "source_eos"):
            config[f"add_{key}"] = bool(content.scalar(f"with_{key}", 0))
        start = "bos_token" if content.scalar("with_target_bos", 1) else "eos_token"
        by_user = content.scalar("user_decoder_start_tokens", 0)
        return config | {"decoder_start_token": None if by_user else config[start]}
    path = content.path.with_name("config.json")
    if path.relative_to(folder).as_posix() not in files.configs:
        raise InputError(f"{path}: is missing, which models of version {content.version} have")
    config = _read_json(path)
    if not isinstance(config, dict):
        raise InputError(f"{path}: must be a JSON object")
    config = _DEFAULTS | config
    for key, default in _DEFAULTS.items():
        types = (int, float) if default is None else (type(default),)
        optional = config[key] is None and key in _OPTIONAL
        if not optional and type(config[key]) not in types:
            wanted = "a number" if default is None else f"a value such as {default!r}"
            raise InputError(f"{path}: {key} is {config[key]!r}, it must be {wanted}")
    return config


def _pieces(path: Path, size: int) -> list[str]:
    """Return the pieces of a vocabulary file, in JSON or one on each line."""
    if path.suffix == ".json":
        pieces = _read_json(path)
    else:
        try:
            pieces = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: cannot read the vocabulary: {error}") from error
    if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
        raise InputError(f"{path}: must be a JSON list of pieces")
    if len(pieces) != size:
        raise InputError(
            f"{path}: {len(pieces)} pieces, the embedding has {size} rows; it belongs to another "
            "model"
        )
    return pieces


def _names(folder: Path, tokenizer: str | None) -> dict[str, str]:
    return SubwordModel(folder / tokenizer).names() if tokenizer else {}


@dataclass(frozen=True)
class _Ends:
    """What stands around the pieces of a sentence, by names.

    `start`: the last token that the decoder reads before an output, the core's <s>; None for zeros.
    The others as in `Marks`.
    """

    start: str | None
    first: str | None = None
    end: tuple[str, ...] = ()
    lead: tuple[str, ...] = ()


def _ends(folder: Path, files: ModelFiles, content: Content, config: dict[str, Any]) -> _Ends:
    """Return what stands around a sentence: the config alone does not say whether a source ends.

    Models of OpenNMT begin an output with <s>, and their sources have no end. BART and models with
    language codes have the code or <s> in front of both sides.

    Raises:
        InputError: no language is chosen, or it can't be told what an output begins with.
    """
    start, bos, eos = (config[key] for key in ("decoder_start_token", "bos_token", "eos_token"))
    if content.scalar(_ZERO_START, 0):
        return _Ends(None, end=(eos,))
    path = folder / files.vocabularies[-1]
    pieces = _pieces(path, _rows(content, _TABLES[1]))
    codes = sorted(filter(_CODE.fullmatch, pieces)) if start in (eos, None) else []
    if codes:
        source, target = read_languages(folder, files, codes)
        # mBART-25 has the code behind the source; others have it in front.
        if start is None:
            return _Ends(target, end=(eos, source))
        return _Ends(target, first=source, end=(eos,), lead=(eos,))
    if start is None:
        raise InputError(
            f"{folder}/config.json: decoder_start_token is null, and {path.name} has no codes of "
            "languages; what does an output begin with?"
        )
    if start not in pieces:
        raise InputError(f"{path}: no piece {start!r}, which is the model's decoder_start_token")
    if start == eos and bos in pieces and content.find("decoder/layernorm_embedding/gamma"):
        return _Ends(bos, first=bos, end=(eos,), lead=(eos,))
    has_end = config["add_source_eos"] or start == eos or start in _PADS
    first = bos if config["add_source_bos"] else None
    return _Ends(start, first=first, end=(eos,) if has_end else ())


class _Order:
    """The pieces of one side in the core's order: symbols, words, and what occurs in no text.

    `rows`: the row of each piece in the file; `silent`: the symbols that the model does not have,
    or has under another name too.

    Args:
        path: the vocabulary.
        size: how many rows the embedding has.
        config: as `_config` returns it.
        ends: what stands around sentences.
        start: the piece that is <s>; None for zeros.
        names: how pieces are spelled that the vocabulary has otherwise, those of bytes.
    """

    def __init__(
        self,
        path: Path,
        size: int,
        config: dict[str, Any],
        ends: _Ends,
        start: str | None,
        names: dict[str, str],
    ):
        pieces = [names.get(piece, piece) for piece in _pieces(path, size)]
        rows = {piece: row for row, piece in enumerate(pieces)}
        for key in ("unk_token", "eos_token"):
            if config[key] not in rows:
                raise InputError(f"{path}: no piece {config[key]!r}, which is the model's {key}")
        unknown, end = rows[config["unk_token"]], rows[config["eos_token"]]
        pads = [rows[piece] for piece in _PADS if piece in rows]
        pad = pads[0] if pads else end
        begin = end if start is None else rows.get(start, end)
        symbols = [pad, unknown, begin, end]
        named = {*SYMBOLS, *_PADS, "<mask>", config["bos_token"], ends.start, ends.first}
        special = {
            row
            for piece, row in rows.items()
            if piece in named or ((ends.lead or len(ends.end) > 1) and _NO_TEXT.fullmatch(piece))
        }
        others = [row for row in range(size) if row not in symbols]
        words = [row for row in others if row not in special]
        self.rows = torch.tensor([*symbols, *words, *(row for row in others if row in special)])
        self._path = path
        self._ids = {pieces[row]: number for number, row in enumerate(self.rows.tolist())}
        self.silent = [PAD] * (not pads) + [BOS] * (begin in (pad, end))
        shown = [pieces[row] for row in self.rows.tolist()[len(SYMBOLS) :]]
        # No text has a piece with a blank.
        shown = [f"{name} of the model" if name in SYMBOLS else name for name in shown]
        try:
            self.vocabulary = Vocabulary([*SYMBOLS, *shown], len(SYMBOLS) + len(words))
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    def id(self, piece: str) -> int:
        """Return the core's id of a piece that stands around sentences, by its name in the file."""
        if piece not in self._ids:
            raise InputError(f"{self._path}: no piece {piece!r}, which the model's sentences need")
        return self._ids[piece]


class _Reader:
    """Makes the layers of a network from CTranslate2's variables."""

    def __init__(
        self,
        parameters: Parameters,
        content: Content,
        config: dict[str, Any],
        source: _Order,
        target: _Order,
    ):
        self._parameters = parameters
        self._take = parameters.take
        self._content = content
        self._size = _size(content)
        self._epsilon: float = config["layer_norm_epsilon"] or _NORM_EPSILON
        self._source = source
        self._target = target

    def network(self, marks: Marks) -> Network:
        """Return the whole network."""
        content, size = self._content, self._size
        rows = self._target.rows
        longest, known = (min(self._known(side), _POSITIONS) for side in _SIDES)
        source = self._embedding("encoder", self._source.rows, longest)
        target = self._embedding("decoder", rows, int(_LONGEST_OUTPUT * longest))
        if content.scalar(_ZERO_START, 0):
            # The row of <s> in the file is that of </s>, too.
            target.pieces = target.pieces[rows]
            target.pieces[BOS] = 0
            target.divisors = None if target.divisors is None else target.divisors[rows]
            target.rows = None
        output = self._linear(_OUTPUT, size, _rows(content, _TABLES[1]))
        assert output.bias is not None
        bias = output.bias[rows]
        bias[self._target.silent] = -torch.inf
        output = output_layer(output.weight[rows], bias)
        # The table of positions ends.
        most = len(target.positions) - len(marks.lead)
        return Network(
            Sizes(size, longest, known, _LONGEST_OUTPUT, most),
            source=source,
            target=target,
            encoder=[self._encoder_layer(n) for n in range(_layers(content, "encoder"))],
            encoder_norm=self._final_norm("encoder"),
            decoder=[self._decoder_layer(n) for n in range(_layers(content, "decoder"))],
            decoder_norm=self._final_norm("decoder"),
            output=output,
            marks=marks,
        )

    def _known(self, side: str) -> int:
        """Return how many positions a side knows."""
        stored = self._content.find(f"{side}/position_encodings/encodings")
        return _POSITIONS if stored is None else stored.shape[0]

    def _embedding(self, side: str, rows: Tensor, positions: int) -> Embedding:
        """Return the embedding of a side, whose table stays in the file; `rows` of its pieces."""
        table = _TABLES[_SIDES.index(side)]
        pieces = self._parameters.table(table, _rows(self._content, table), self._size)
        divisors = None if pieces.is_floating_point() else self._content.scales(table)
        name = f"{side}/position_encodings/encodings"
        if name in self._parameters:
            vectors = self._take(name, self._known(side), self._size)
        else:
            # The engine counts positions from 1.
            vectors = sinusoids(positions + 1, self._size, step=self._size // 2 - 1)[1:]
        norm = f"{side}/layernorm_embedding"
        has_norm = f"{norm}/gamma" in self._parameters
        return Embedding(
            pieces,
            vectors,
            self._scale(side),
            self._norm(norm) if has_norm else None,
            rows,
            divisors,
        )

    def _scale(self, side: str) -> float:
        """Return what embeddings are multiplied by: a flag tells it, or the number itself."""
        names = (f"{side}/scale_embeddings", f"{side}/embeddings/multiply_by_sqrt_depth")
        for name in names:
            if (found := self._content.find(name)) is not None:
                number = self._content.scalar(name, 0)
                if found.type != torch.int8:
                    return number
                return self._size**0.5 if number else 1.0
        return self._size**0.5

    def _encoder_layer(self, number: int) -> EncoderLayer:
        prefix, side = f"encoder/layer_{number}", "encoder"
        return EncoderLayer(self._self_attention(prefix, side), self._feed_forward(prefix, side))

    def _decoder_layer(self, number: int) -> DecoderLayer:
        prefix, side = f"decoder/layer_{number}", "decoder"
        name, size = f"{prefix}/attention", self._size
        key, value = _parts(self._linear(f"{name}/linear_1", size, 2 * size), 2)
        cross = CrossAttention.of(
            self._frame(name, side),
            self._heads(side),
            query=self._linear(f"{name}/linear_0", size, size),
            key=key,
            value=value,
            out=self._linear(f"{name}/linear_2", size, size),
        )
        feed_forward = self._feed_forward(prefix, side)
        return DecoderLayer(self._self_attention(prefix, side), cross, feed_forward)

    def _self_attention(self, prefix: str, side: str) -> SelfAttention:
        name, size = f"{prefix}/self_attention", self._size
        query, key, value = _parts(self._linear(f"{name}/linear_0", size, 3 * size), 3)
        return SelfAttention.of(
            self._frame(name, side),
            self._heads(side),
            query=query,
            key=key,
            value=value,
            out=self._linear(f"{name}/linear_1", size, size),
        )

    def _heads(self, side: str) -> int:
        return int(_option(self._content, side, "num_heads", 0))

    def _feed_forward(self, prefix: str, side: str) -> FeedForward:
        name, size = f"{prefix}/ffn", self._size
        inward = self._content.find(f"{name}/linear_0/weight")
        hidden = inward.shape[0] if inward is not None and inward.shape else 0
        activation = _ACTIVATIONS[int(_option(self._content, side, "activation", 0))]
        return FeedForward(
            self._frame(name, side),
            self._linear(f"{name}/linear_0", size, hidden),
            self._linear(f"{name}/linear_1", hidden, size),
            _SUPPORTED[activation],
        )

    def _frame(self, prefix: str, side: str) -> Frame:
        norm = self._norm(f"{prefix}/layer_norm")
        return Frame(before=norm) if self._pre_norm(side) else Frame(after=norm)

    def _pre_norm(self, side: str) -> bool:
        return bool(_option(self._content, side, "pre_norm", 1))

    def _final_norm(self, side: str) -> Norm | None:
        name = f"{side}/layer_norm"
        return self._norm(name) if f"{name}/gamma" in self._parameters else None

    def _norm(self, name: str) -> Norm:
        weight, bias = (self._take(f"{name}/{part}", self._size) for part in ("gamma", "beta"))
        return Norm(weight, bias, self._epsilon)

    def _linear(self, name: str, inward: int, outward: int) -> Linear:
        """Return a product; zeros are added where it has no bias."""
        weight = self._take(f"{name}/weight", outward, inward)
        bias = f"{name}/bias"
        has_bias = bias in self._parameters
        return Linear(weight, self._take(bias, outward) if has_bias else torch.zeros(outward))


def _parts(linear: Linear, count: int) -> list[Linear]:
    """Return the layers that stand one below another in one."""
    assert linear.bias is not None
    pairs = zip(linear.weight.chunk(count), linear.bias.chunk(count), strict=True)
    return [Linear(weight, bias) for weight, bias in pairs]
