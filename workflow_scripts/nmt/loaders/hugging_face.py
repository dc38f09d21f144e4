"""Loading of folders of Hugging Face's `MarianMTModel`, as OPUS-MT publishes them."""

from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from workflow_scripts.core.config_size import require_bounded
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.json_text import parse_json
from workflow_scripts.core.files.model_folder import ModelFiles
from workflow_scripts.nmt.attention import CrossAttention, SelfAttention
from workflow_scripts.nmt.blocks import FeedForward, Frame, Norm
from workflow_scripts.nmt.linear import Linear
from workflow_scripts.nmt.loaders.description import Loaded, Opened, Raw, Summary
from workflow_scripts.nmt.loaders.parameters import Parameters, read_checkpoint
from workflow_scripts.nmt.network import (
    DecoderLayer,
    Embedding,
    EncoderLayer,
    Network,
    Sizes,
    output_layer,
)
from workflow_scripts.nmt.positions import sinusoids
from workflow_scripts.nmt.vocabulary import BOS, SYMBOLS, Vocabulary

_NORM_EPSILON = 1e-5
# How many tokens an output may have for each token of its source, as with Marian.
_LONGEST_OUTPUT = 3.0
_MOST_POSITIONS = 5000
_ACTIVATIONS = {"swish": "swish", "silu": "swish", "relu": "relu"}
# Keys and what they must be where they are there.
_SUPPORTED: dict[str, tuple[object, ...]] = {
    "activation_function": tuple(_ACTIVATIONS),
    "add_bias_logits": (False,),
    "add_final_layer_norm": (False,),
    "decoder_start_token_id": (),
    "is_encoder_decoder": (True,),
    "model_type": ("marian",),
    "normalize_before": (False,),
    "normalize_embedding": (False,),
    "scale_embedding": (True, False),
    "share_encoder_decoder_embeddings": (True, False),
    "static_position_embeddings": (True,),
    "tie_word_embeddings": (True, False),
}
_COUNTS = (
    "d_model",
    "vocab_size",
    "max_position_embeddings",
    *(f"{side}_{what}" for side in ("encoder", "decoder") for what in ("layers", "ffn_dim")),
    *(f"{side}_attention_heads" for side in ("encoder", "decoder")),
)
_SIDES = ("encoder", "decoder")
_SHARED = "model.shared.weight"
_EMBEDDINGS = tuple(f"model.{side}.embed_tokens.weight" for side in _SIDES)
_OUTPUT = "lm_head.weight"
# Published files are in fp16.
_NEARLY = 2e-3


def load(folder: Path, files: ModelFiles) -> Loaded:
    """Return the network of a folder, and the vocabularies of its source and target.

    Raises:
        InputError: a file is missing or broken, or the model has parts that are not supported.
    """
    return opened(folder, files).loaded()


def opened(folder: Path, files: ModelFiles) -> Opened:
    """Return the parameters by Hugging Face's names, and the vocabularies; see `load`.

    Positions and the shared table are left out. What the config ties is one tensor.
    """
    path = folder / files.configs[0]
    config = _read_config(path)
    if reasons := _not_supported(config):
        raise InputError(f"{path}: not supported: {'; '.join(reasons)}")
    source, target = _orders(folder, files, config)
    weights = folder / files.weights

    def build(tensors: dict[str, Tensor]) -> Network:
        parameters = Parameters(weights, dict(tensors))
        network = _Reader(parameters, config, source, target).network()
        parameters.check_all_used()
        return network

    raw = Raw(_tidied(weights, stored(folder, files), config), frozenset(), build)
    return Opened(raw, source.vocabulary, target.vocabulary)


def stored(folder: Path, files: ModelFiles) -> dict[str, Tensor]:
    """Return the tensors of the file by their names there; tied ones may share their memory."""
    weights = folder / files.weights
    read = _read_safetensors if weights.suffix == ".safetensors" else read_checkpoint
    return read(weights)


def saved(folder: Path, files: ModelFiles, tensors: dict[str, Tensor]) -> tuple[str, bytes]:
    """Return the name and the content of a file of parameters, named as `opened` names them."""
    named = _as_in_files(_read_config(folder / files.configs[0]), tensors)
    # Each with memory of its own, as the format wants it.
    apart = {name: tensor.contiguous().clone() for name, tensor in named.items()}
    return "model.safetensors", safetensors.torch.save(apart, {"format": "pt"})


def _as_in_files(config: dict[str, Any], tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors of `opened` by the names under which the library keeps them.

    What the config ties stands there once.
    """
    in_files = dict(tensors)
    if not config["tie_word_embeddings"]:
        return in_files
    del in_files[_OUTPUT]
    if config["share_encoder_decoder_embeddings"]:
        shared = [in_files.pop(name) for name in _EMBEDDINGS]
        in_files[_SHARED] = shared[0]
    return in_files


def summary(folder: Path, files: ModelFiles) -> Summary:
    """Return what is known of a model without its weights, and why it can't be loaded.

    Raises:
        InputError: a file can't be read.
    """
    config = _read_config(folder / files.configs[0])
    if reasons := _not_supported(config):
        return Summary(refused=reasons)
    return Summary(
        layers=(config["encoder_layers"], config["decoder_layers"]),
        size=config["d_model"],
        vocabulary=(config["vocab_size"], config["decoder_vocab_size"]),
    )


def _read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object of a file."""
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(content, dict):
        raise InputError(f"{path}: must be a JSON object")
    return content


def _read_config(path: Path) -> dict[str, Any]:
    """Return the keys of a config; those that may be left out are filled in."""
    config = _read_object(path)
    require_bounded(config, str(path))
    defaults = {
        "scale_embedding": False,
        "share_encoder_decoder_embeddings": True,
        "tie_word_embeddings": True,
        "eos_token_id": 0,
    }
    config = defaults | config
    return {
        **config,
        "decoder_vocab_size": config.get("decoder_vocab_size") or config.get("vocab_size"),
    }


def _not_supported(config: dict[str, Any]) -> list[str]:
    """Return which keys of a config are missing, or have values that are not supported."""
    start = {"decoder_start_token_id": (config.get("pad_token_id"),)}
    reasons = [
        f"{key} is {config[key]!r}, supported is {' or '.join(map(repr, allowed))}"
        for key, allowed in (_SUPPORTED | start).items()
        if key in config and config[key] not in allowed
    ]
    counts = [*_COUNTS, "decoder_vocab_size"]
    needed = [
        *counts,
        "model_type",
        "activation_function",
        "pad_token_id",
        "decoder_start_token_id",
    ]
    reasons += [f"{key} is missing" for key in needed if config.get(key) is None]
    wrong = [
        f"{key} is {config[key]!r}; it must be a whole number of at least 1"
        for key in counts
        if config.get(key) is not None and not (type(config[key]) is int and config[key] > 0)
    ]
    wrong += [
        f"{key} is {config[key]!r}; it must be the id of a piece"
        for key in ("pad_token_id", "eos_token_id")
        if config.get(key) is not None and not (type(config[key]) is int and config[key] >= 0)
    ]
    if reasons or wrong:
        return reasons + wrong
    size = config["d_model"]
    return [
        f"{side}_attention_heads is {config[f'{side}_attention_heads']}, which must divide "
        f"d_model, {size}, an even number"
        for side in _SIDES
        if size % config[f"{side}_attention_heads"] or size % 2
    ]


class _Order:
    """The pieces of one side, and which rows of the model's tables [V, ...] they have.

    `rows` are those of the core's ids: <pad>, <unk>, <s> (which is <pad> again), </s>, the others.
    """

    def __init__(self, path: Path, size: int, config: dict[str, Any]):
        pieces = _pieces(path, size)
        pad, end = config["pad_token_id"], config["eos_token_id"]
        if max(pad, end) >= size or "<unk>" not in pieces:
            raise InputError(
                f"{path}: no <unk>, or no pieces with the ids of pad_token_id ({pad}) and "
                f"eos_token_id ({end}); it belongs to another model"
            )
        symbols = [pad, pieces.index("<unk>"), pad, end]
        others = [row for row in range(size) if row not in symbols]
        self.rows = torch.tensor(symbols + others)
        try:
            self.vocabulary = Vocabulary([*SYMBOLS, *(pieces[row] for row in others)])
        except InputError as error:
            raise InputError(f"{path}: {error}") from None


def _pieces(path: Path, size: int) -> list[str]:
    """Return the pieces of a JSON object of piece -> id by their ids, which are 0..size-1."""
    ids = _read_object(path)
    by_id = {index: piece for piece, index in ids.items() if type(index) is int}
    if not len(by_id) == len(ids) == size or sorted(by_id) != list(range(size)):
        raise InputError(
            f"{path}: must have {size} pieces with the ids 0 to {size - 1}, as the config says; "
            f"it has {len(ids)}"
        )
    return [by_id[index] for index in range(size)]


def _orders(folder: Path, files: ModelFiles, config: dict[str, Any]) -> tuple[_Order, _Order]:
    names = files.vocabularies
    source = _Order(folder / names[0], config["vocab_size"], config)
    if len(names) == 1 and config["decoder_vocab_size"] == config["vocab_size"]:
        return source, source
    return source, _Order(folder / names[-1], config["decoder_vocab_size"], config)


def _read_safetensors(path: Path) -> dict[str, Tensor]:
    try:
        return safetensors.torch.load_file(path)
    except (OSError, safetensors.SafetensorError, ValueError) as error:
        raise InputError(f"{path}: cannot read the parameters: {error}") from error


def _tidied(path: Path, tensors: dict[str, Tensor], config: dict[str, Any]) -> dict[str, Tensor]:
    """Return the tensors with _EMBEDDINGS and _OUTPUT each under its own name; no positions.

    Files may leave out copies of what is tied, or hold them, and positions that are computed.

    Raises:
        InputError: two tensors that the config ties differ, or positions were trained.
    """
    tidied = dict(tensors)
    shared = config["share_encoder_decoder_embeddings"]
    tied = config["tie_word_embeddings"]
    names = [*([_SHARED] if shared else []), *_EMBEDDINGS, *([_OUTPUT] if tied else [])]
    # Without tying each side has its own, and the shared one only where the side's is left out.
    groups = [names] if shared else [names[:1], names[1:]]
    for group in groups:
        present = [name for name in group if name in tidied]
        for name in present[1:] if tied else ():
            if not torch.equal(tidied[name], tidied[present[0]]):
                raise InputError(f"{path}: {name} differs from {present[0]}, which the config ties")
        if present:
            first = tidied[present[0]]
            tidied |= {name: first for name in group if name not in tidied}
    if shared:
        tidied.pop(_SHARED, None)
    for side in _SIDES:
        name = f"model.{side}.embed_positions.weight"
        if name in tidied and not _are_computed(tidied.pop(name).float(), config["d_model"]):
            raise InputError(f"{path}: {name} holds other positions than sines and cosines")
    return tidied


def _are_computed(positions: Tensor, size: int) -> bool:
    if positions.dim() != 2 or positions.shape[1] != size:
        return False
    return torch.allclose(positions, _positions(len(positions), size), atol=_NEARLY)


def _positions(count: int, size: int) -> Tensor:
    return sinusoids(count, size, step=size / 2)


class _Reader:
    """Makes the layers of a network from the parameters."""

    def __init__(
        self, parameters: Parameters, config: dict[str, Any], source: _Order, target: _Order
    ):
        self._take = parameters.take
        self._config = config
        self._source = source
        self._target = target
        self._size: int = config["d_model"]

    def network(self) -> Network:
        """Return the whole network."""
        config, size = self._config, self._size
        pieces = {"encoder": config["vocab_size"], "decoder": config["decoder_vocab_size"]}
        source, target = (
            self._take(name, pieces[side], size)
            for side, name in zip(_SIDES, _EMBEDDINGS, strict=True)
        )
        output = self._take(_OUTPUT, pieces["decoder"], size)
        longest = min(config["max_position_embeddings"], _MOST_POSITIONS)
        bias = self._take("final_logits_bias", 1, pieces["decoder"])[0][self._target.rows]
        # <s> and <pad> are one piece there; it counts once.
        bias[BOS] = -torch.inf
        return Network(
            Sizes(size, longest, longest, _LONGEST_OUTPUT),
            source=self._embedding(source, self._source, longest),
            target=self._embedding(target, self._target, int(_LONGEST_OUTPUT * longest)),
            encoder=[self._encoder_layer(n) for n in range(config["encoder_layers"])],
            encoder_norm=None,
            decoder=[self._decoder_layer(n) for n in range(config["decoder_layers"])],
            decoder_norm=None,
            output=output_layer(output[self._target.rows], bias),
        )

    def _embedding(self, table: Tensor, order: _Order, positions: int) -> Embedding:
        scale = self._size**0.5 if self._config["scale_embedding"] else 1.0
        return Embedding(table[order.rows] * scale, _positions(positions, self._size))

    def _encoder_layer(self, number: int) -> EncoderLayer:
        prefix = f"model.encoder.layers.{number}"
        return EncoderLayer(
            self._self_attention(prefix, "encoder"), self._feed_forward(prefix, "encoder")
        )

    def _decoder_layer(self, number: int) -> DecoderLayer:
        prefix = f"model.decoder.layers.{number}"
        name = f"{prefix}.encoder_attn"
        return DecoderLayer(
            self._self_attention(prefix, "decoder"),
            CrossAttention.of(self._frame(name), self._heads("decoder"), **self._products(name)),
            self._feed_forward(prefix, "decoder"),
        )

    def _self_attention(self, prefix: str, side: str) -> SelfAttention:
        name = f"{prefix}.self_attn"
        return SelfAttention.of(self._frame(name), self._heads(side), **self._products(name))

    def _heads(self, side: str) -> int:
        heads: int = self._config[f"{side}_attention_heads"]
        return heads

    def _products(self, name: str) -> dict[str, Linear]:
        """Return the products of an attention by their roles."""
        roles = {"query": "q", "key": "k", "value": "v", "out": "out"}
        size = self._size
        return {
            role: self._linear(f"{name}.{part}_proj", size, size) for role, part in roles.items()
        }

    def _feed_forward(self, prefix: str, side: str) -> FeedForward:
        size, hidden = self._size, self._config[f"{side}_ffn_dim"]
        return FeedForward(
            self._frame(f"{prefix}.final"),
            self._linear(f"{prefix}.fc1", size, hidden),
            self._linear(f"{prefix}.fc2", hidden, size),
            _ACTIVATIONS[self._config["activation_function"]],
        )

    def _frame(self, name: str) -> Frame:
        weight, bias = (
            self._take(f"{name}_layer_norm.{part}", self._size) for part in ("weight", "bias")
        )
        return Frame(after=Norm(weight, bias, _NORM_EPSILON))

    def _linear(self, name: str, inward: int, outward: int) -> Linear:
        weight = self._take(f"{name}.weight", outward, inward)
        return Linear(weight, self._take(f"{name}.bias", outward))
