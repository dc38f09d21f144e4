"""Loading of Sockeye 3 model folders."""

import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import yaml
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.model_folder import ModelFiles
from workflow_scripts.core.files.yaml_text import parse_yaml
from workflow_scripts.nmt.attention import CrossAttention, SelfAttention
from workflow_scripts.nmt.blocks import FeedForward, Frame, Norm
from workflow_scripts.nmt.linear import Linear
from workflow_scripts.nmt.loaders.checkpoints import read_checkpoint
from workflow_scripts.nmt.loaders.description import Opened, Raw, Summary
from workflow_scripts.nmt.loaders.parameters import Parameters
from workflow_scripts.nmt.network import (
    DecoderLayer,
    Embedding,
    EncoderLayer,
    Network,
    Sizes,
    output_layer,
)
from workflow_scripts.nmt.vocabulary import Vocabulary

_SUPPORTED: dict[str, tuple[object, ...]] = {
    "config_data.num_source_factors": (1,),
    "config_data.num_target_factors": (1,),
    "config_data.eop_id": (-1,),
    "config_length_task": (None,),
    "lhuc": (False,),
    "neural_vocab_selection": (None,),
}
_SUPPORTED_TRANSFORMER: dict[str, tuple[object, ...]] = {
    "act_type": ("relu",),
    "decoder_type": ("transformer",),
    "positional_embedding_type": ("fixed",),
    "preprocess_sequence": ("n",),
    "postprocess_sequence": ("r", "dr"),
    "use_glu": (False,),
    "use_lhuc": (False,),
    "block_prepended_cross_attention": (False,),
}


_FIXED = frozenset(f"{side}.pos_embedding.weight" for side in ("encoder", "decoder"))

_TABLES = {
    "source": "embedding_source.embedding.weight",
    "target": "embedding_target.embedding.weight",
    "softmax": "output_layer.weight",
}
# Which tables are one with the target's, by Sockeye's option for it.
_TIED = {
    "src_trg": ("source",),
    "trg_softmax": ("softmax",),
    "src_trg_softmax": ("source", "softmax"),
}


class _ConfigLoader(yaml.SafeLoader):
    """Reads Sockeye's tagged objects as plain mappings and never builds a Python object."""


def _mapping(loader: yaml.SafeLoader, _: str, node: yaml.MappingNode) -> dict[Any, Any]:
    return loader.construct_mapping(node, deep=True)


def _tuple(loader: yaml.SafeLoader, node: yaml.SequenceNode) -> tuple[Any, ...]:
    return tuple(loader.construct_sequence(node))


_ConfigLoader.add_multi_constructor("!", _mapping)
_ConfigLoader.add_constructor("tag:yaml.org,2002:python/tuple", _tuple)


def opened(folder: Path, files: ModelFiles) -> Opened:
    """Return the best parameters by Sockeye's names, and the vocabularies.

    Tables that the config ties are one tensor.
    """
    config = folder / files.configs[0]
    source_file, target_file = (folder / name for name in files.vocabularies)
    value = _values(config)
    if reasons := _not_supported(value):
        raise InputError(f"{config}: {reasons[0]}")
    source_vocab, target_vocab = Vocabulary.load(source_file), Vocabulary.load(target_file)
    sizes = _sizes(config, value)
    stacks = [_stack(config, value, side) for side in ("config_encoder", "config_decoder")]
    weights = folder / files.weights

    def build(tensors: dict[str, Tensor]) -> Network:
        parameters = Parameters(weights, dict(tensors))
        reader = _Reader(parameters, sizes.size)
        network = Network(
            sizes,
            source=reader.embedding("source", len(source_vocab), "encoder", sizes.max_source),
            target=reader.embedding("target", len(target_vocab), "decoder", sizes.max_target),
            encoder=reader.encoder(**stacks[0]),
            encoder_norm=reader.norm("encoder.final_process"),
            decoder=reader.decoder(**stacks[1]),
            decoder_norm=reader.norm("decoder.final_process"),
            output=reader.output(len(target_vocab)),
        )
        parameters.check_all_used()
        return network

    raw = Raw(_tied(stored(folder, files), value("weight_tying_type")), _FIXED, build)
    return Opened(raw, source_vocab, target_vocab)


def stored(folder: Path, files: ModelFiles) -> dict[str, Tensor]:
    """Return the tensors of the file by their names there; tied ones may share their memory."""
    return read_checkpoint(folder / files.weights)


def saved(folder: Path, files: ModelFiles, tensors: dict[str, Tensor]) -> tuple[str, bytes]:
    """Return the name and the content of a file of parameters, named as `opened` names them."""
    # Not straight into a file: its name would stand in it.
    buffer = io.BytesIO()
    torch.save(tensors, buffer)
    return files.weights, buffer.getvalue()


def _tied(tensors: dict[str, Tensor], tying: object) -> dict[str, Tensor]:
    """Return the tensors; tables that are tied are one where their numbers are equal."""
    tied = dict(tensors)
    for side in _TIED.get(str(tying), ()):
        name = _TABLES[side]
        if name in tied and _TABLES["target"] in tied:
            table = tied[_TABLES["target"]]
            tied[name] = table if torch.equal(tied[name], table) else tied[name]
    return tied


def summary(folder: Path, files: ModelFiles) -> Summary:
    """Return what is known of a model without its weights, and why it can't be loaded.

    Raises:
        InputError: a file can't be read.
    """
    config = folder / files.configs[0]
    value = _values(config)
    if reasons := _not_supported(value):
        return Summary(refused=reasons)
    size = _sizes(config, value).size  # before what it must be divided by
    sides = [_stack(config, value, side) for side in ("config_encoder", "config_decoder")]
    source, target = (len(Vocabulary.load(folder / name)) for name in files.vocabularies)
    return Summary(
        layers=(sides[0]["layers"], sides[1]["layers"]),
        size=size,
        vocabulary=(source, target),
    )


def read_tree(path: Path) -> Any:
    """Return a config file of Sockeye as plain mappings and lists.

    Raises:
        InputError: it cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot read the model's config: {error}") from error
    return parse_yaml(text, str(path), _ConfigLoader)


def _values(path: Path) -> Callable[[str], Any]:
    """Return a function that gives the value of a key, its parts joined by dots, of a config."""
    tree = read_tree(path)

    def value(key: str) -> Any:
        node = tree
        for part in key.split("."):
            if not isinstance(node, dict) or part not in node:
                raise InputError(f"{path}: no {key!r}; is this a model of Sockeye 3?")
            node = node[part]
        return node

    return value


def _sizes(path: Path, value: Callable[[str], Any]) -> Sizes:
    ratio, deviation = (
        value(f"config_data.data_statistics.length_ratio_{kind}") for kind in ("mean", "std")
    )
    numbers = (ratio, deviation)
    if not all(isinstance(n, float) and math.isfinite(n) for n in numbers) or ratio <= 0:
        raise InputError(f"{path}: the length ratio of the training data is {ratio} +- {deviation}")
    return Sizes(
        size=_count(path, value, "config_encoder.model_size"),
        max_source=_count(path, value, "config_data.max_seq_len_source"),
        max_target=_count(path, value, "config_data.max_seq_len_target"),
        longest_output=ratio + 2 * deviation,
    )


def _stack(path: Path, value: Callable[[str], Any], side: str) -> dict[str, int]:
    """Return how many layers, heads and hidden units a side has."""
    keys = {"layers": "num_layers", "heads": "attention_heads", "hidden": "feed_forward_num_hidden"}
    stack = {name: _count(path, value, f"{side}.{key}") for name, key in keys.items()}
    size = value(f"{side}.model_size")
    if size % stack["heads"]:
        raise InputError(
            f"{path}: {side}.attention_heads is {stack['heads']}, which must divide "
            f"{side}.model_size, {size}"
        )
    return stack


def _count(path: Path, value: Callable[[str], Any], key: str) -> int:
    """Return a whole number of at least 1."""
    number = value(key)
    if type(number) is not int or number < 1:
        raise InputError(f"{path}: {key} is {number!r}; it must be a whole number of at least 1")
    return number


def _not_supported(value: Callable[[str], Any]) -> list[str]:
    """Return which parts of the model are not supported."""
    supported = dict(_SUPPORTED)
    for side in ("config_encoder", "config_decoder"):
        supported |= {f"{side}.{key}": allowed for key, allowed in _SUPPORTED_TRANSFORMER.items()}
    size = value("config_encoder.model_size")
    for key in (
        "config_decoder.model_size",
        "config_decoder.depth_key_value",
        "config_embed_source.num_embed",
        "config_embed_target.num_embed",
    ):
        supported[key] = (size,)
    return [
        f"{key} is {value(key)!r}, supported is {' or '.join(map(repr, allowed))}"
        for key, allowed in supported.items()
        if value(key) not in allowed
    ]


class _Reader:
    """Makes the layers of a network from Sockeye's parameters; `size` is D."""

    def __init__(self, parameters: Parameters, size: int):
        self._take = parameters.take
        self._size = size

    def embedding(self, side: str, pieces: int, stack: str, positions: int) -> Embedding:
        """Return the embedding of a side; Sockeye multiplies its pieces by the root of the size."""
        weight = self._take(f"embedding_{side}.embedding.weight", pieces, self._size)
        return Embedding(
            weight * self._size**0.5,
            self._take(f"{stack}.pos_embedding.weight", positions, self._size),
        )

    def encoder(self, layers: int, heads: int, hidden: int) -> list[EncoderLayer]:
        """Return the layers of the encoder."""
        prefixes = (f"encoder.layers.{index}" for index in range(layers))
        return [
            EncoderLayer(
                self._self_attention(prefix, "self_attention", heads),
                self._feed_forward(prefix, hidden),
            )
            for prefix in prefixes
        ]

    def decoder(self, layers: int, heads: int, hidden: int) -> list[DecoderLayer]:
        """Return the layers of the decoder."""
        prefixes = (f"decoder.layers.{index}" for index in range(layers))
        return [
            DecoderLayer(
                self._self_attention(prefix, "autoregr_layer", heads),
                self._cross_attention(prefix, heads),
                self._feed_forward(prefix, hidden),
            )
            for prefix in prefixes
        ]

    def output(self, pieces: int) -> Linear:
        """Return the output layer."""
        weight = self._take("output_layer.weight", pieces, self._size)
        return output_layer(weight, self._take("output_layer.bias", pieces))

    def norm(self, prefix: str) -> Norm:
        """Return a layer normalisation."""
        weight, bias = (
            self._take(f"{prefix}.layer_norm.{part}", self._size) for part in ("weight", "bias")
        )
        return Norm(weight, bias)

    def _self_attention(self, prefix: str, name: str, heads: int) -> SelfAttention:
        size = self._size
        inward = self._take(f"{prefix}.{name}.ff_in.weight", 3 * size, size)
        keys, values = _separated(inward[size:], heads)
        return SelfAttention.of(
            Frame(before=self.norm(f"{prefix}.pre_{name}")),
            heads,
            query=Linear(inward[:size]),
            key=keys,
            value=values,
            out=Linear(self._take(f"{prefix}.{name}.ff_out.weight", size, size)),
        )

    def _cross_attention(self, prefix: str, heads: int) -> CrossAttention:
        size, name = self._size, f"{prefix}.enc_attention"
        keys, values = _separated(self._take(f"{name}.ff_kv.weight", 2 * size, size), heads)
        return CrossAttention.of(
            Frame(before=self.norm(f"{prefix}.pre_enc_attention")),
            heads,
            query=Linear(self._take(f"{name}.ff_q.weight", size, size)),
            key=keys,
            value=values,
            out=Linear(self._take(f"{name}.ff_out.weight", size, size)),
        )

    def _feed_forward(self, prefix: str, hidden: int) -> FeedForward:
        size, name = self._size, f"{prefix}.ff"
        return FeedForward(
            Frame(before=self.norm(f"{prefix}.pre_ff")),
            Linear(
                self._take(f"{name}.ff1.weight", hidden, size),
                self._take(f"{name}.ff1.bias", hidden),
            ),
            Linear(
                self._take(f"{name}.ff2.weight", size, hidden),
                self._take(f"{name}.ff2.bias", size),
            ),
            activation="relu",
        )


def _separated(memory: Tensor, heads: int) -> tuple[Linear, Linear]:
    """Split the rows (head, key | value, d), as Sockeye saves them, into keys and values."""
    keys, values = memory.unflatten(0, (heads, 2, -1)).unbind(1)
    return Linear(keys.flatten(0, 1)), Linear(values.flatten(0, 1))
