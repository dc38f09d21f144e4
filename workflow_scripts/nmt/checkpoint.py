"""Loading of Sockeye 3 model folders."""

import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
import yaml
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.numbers import require_finite
from workflow_scripts.nmt.linear import Linear
from workflow_scripts.nmt.memory import bound_compiled_products, keep_freed_memory
from workflow_scripts.nmt.model import (
    CrossAttention,
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    Model,
    ModelConfig,
    Norm,
    SelfAttention,
    Weights,
)
from workflow_scripts.nmt.vocabulary import Vocabulary

PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16}

# Rows of the output layer are filled up to a multiple of this, which lets the search look for
# the best pieces block by block.
OUTPUT_MULTIPLE = 64

_SUPPORTED = {
    "config_data.num_source_factors": (1,),
    "config_data.num_target_factors": (1,),
    "config_data.eop_id": (-1,),
    "config_length_task": (None,),
    "lhuc": (False,),
    "neural_vocab_selection": (None,),
}
_SUPPORTED_TRANSFORMER = {
    "act_type": ("relu",),
    "decoder_type": ("transformer",),
    "positional_embedding_type": ("fixed",),
    "preprocess_sequence": ("n",),
    "postprocess_sequence": ("r", "dr"),
    "use_glu": (False,),
    "use_lhuc": (False,),
    "block_prepended_cross_attention": (False,),
}


class _ConfigLoader(yaml.SafeLoader):
    """Reads Sockeye's tagged objects as plain mappings and never builds a Python object."""


_ConfigLoader.add_multi_constructor(
    "!", lambda loader, _, node: loader.construct_mapping(node, deep=True)
)
_ConfigLoader.add_constructor(
    "tag:yaml.org,2002:python/tuple",
    lambda loader, node: tuple(loader.construct_sequence(node)),
)


def choose_device(name: str) -> torch.device:
    """Return the device called `auto`, `cpu` or `cuda`; `auto` takes a GPU where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("device cuda was asked for, but torch finds no GPU; use cpu or auto")
    return torch.device(name)


def load_model(folder: str | Path, device: str = "auto", precision: str = "fp32") -> Model:
    """Load the best parameters of a Sockeye 3 model folder.

    Args:
        folder: holds `config`, `params.best`, `vocab.src.0.json` and `vocab.trg.0.json`.
        device: `auto`, `cpu` or `cuda`.
        precision: `fp32` or `bf16`.

    Raises:
        InputError: a file is missing or broken, or the model has parts that are not supported.
    """
    folder = Path(folder)
    if precision not in PRECISIONS:
        raise InputError(f"precision {precision!r}: use one of {', '.join(PRECISIONS)}")
    config = _read_config(folder / "config")
    source_vocab = Vocabulary.load(folder / "vocab.src.0.json")
    target_vocab = Vocabulary.load(folder / "vocab.trg.0.json")
    parameters = _Parameters(folder / "params.best")
    weights = _read_weights(parameters, config, len(source_vocab), len(target_vocab))
    parameters.check_all_used()
    chosen = choose_device(device)
    if chosen.type == "cpu":
        keep_freed_memory()
        bound_compiled_products()
    weights = _convert(weights, chosen, PRECISIONS[precision])
    return Model(config, weights, source_vocab, target_vocab)


def read_tree(path: Path) -> Any:
    """Return a config file of Sockeye as plain mappings and lists.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_ConfigLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path}: cannot read the model's config: {error}") from error


def _read_config(path: Path) -> ModelConfig:
    tree = read_tree(path)

    def value(key: str) -> Any:
        node = tree
        for part in key.split("."):
            if not isinstance(node, dict) or part not in node:
                raise InputError(f"{path}: no {key!r}; is this a model of Sockeye 3?")
            node = node[part]
        return node

    _check_supported(path, value)
    ratio, deviation = (
        value(f"config_data.data_statistics.length_ratio_{kind}") for kind in ("mean", "std")
    )
    numbers = (ratio, deviation)
    if not all(isinstance(n, float) and math.isfinite(n) for n in numbers) or ratio <= 0:
        raise InputError(f"{path}: the length ratio of the training data is {ratio} +- {deviation}")
    return ModelConfig(
        size=value("config_encoder.model_size"),
        encoder_layers=value("config_encoder.num_layers"),
        decoder_layers=value("config_decoder.num_layers"),
        encoder_heads=value("config_encoder.attention_heads"),
        decoder_heads=value("config_decoder.attention_heads"),
        encoder_hidden=value("config_encoder.feed_forward_num_hidden"),
        decoder_hidden=value("config_decoder.feed_forward_num_hidden"),
        max_source=value("config_data.max_seq_len_source"),
        max_target=value("config_data.max_seq_len_target"),
        length_ratio=ratio,
        length_ratio_std=deviation,
    )


def _check_supported(path: Path, value: Callable[[str], Any]) -> None:
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
    for key, allowed in supported.items():
        if value(key) not in allowed:
            raise InputError(
                f"{path}: {key} is {value(key)!r}, supported is "
                f"{' or '.join(repr(option) for option in allowed)}"
            )


class _Parameters:
    """The tensors of a checkpoint, each of which must be taken once, with the right shape."""

    def __init__(self, path: Path):
        self._path = path
        try:
            self._tensors = torch.load(path, map_location="cpu", weights_only=True)
        except FileNotFoundError as error:
            raise InputError(f"{path}: no such file; has the training finished?") from error
        except (OSError, RuntimeError, EOFError, pickle.UnpicklingError) as error:
            raise InputError(f"{path}: cannot read the parameters: {error}") from error

    def take(self, name: str, *shape: int) -> Tensor:
        """Return a parameter as fp32."""
        if name not in self._tensors:
            raise InputError(f"{self._path}: no parameter {name!r}")
        tensor = self._tensors.pop(name)
        if tensor.shape != shape or not tensor.is_floating_point():
            raise InputError(
                f"{self._path}: parameter {name!r} is {tensor.dtype} {list(tensor.shape)}, "
                f"the config asks for floating-point {list(shape)}"
            )
        require_finite(self._path, name, tensor)
        return tensor.float()

    def check_all_used(self) -> None:
        """Refuse a checkpoint with parameters that nothing asked for."""
        if self._tensors:
            names = ", ".join(sorted(self._tensors)[:5])
            raise InputError(f"{self._path}: parameters that are not supported: {names}")


def _read_weights(
    parameters: _Parameters, config: ModelConfig, source_size: int, target_size: int
) -> Weights:
    size, take = config.size, parameters.take

    def norm(prefix: str) -> Norm:
        return Norm(
            take(f"{prefix}.layer_norm.weight", size), take(f"{prefix}.layer_norm.bias", size)
        )

    def self_attention(prefix: str, name: str, heads: int) -> SelfAttention:
        query, memory = take(f"{prefix}.{name}.ff_in.weight", 3 * size, size).split(
            [size, 2 * size]
        )
        inward = torch.cat([_scaled(query, heads), _separated(memory, heads)])
        return SelfAttention(
            norm(f"{prefix}.pre_{name}"),
            Linear(inward),
            Linear(take(f"{prefix}.{name}.ff_out.weight", size, size)),
        )

    def cross_attention(prefix: str, heads: int) -> CrossAttention:
        name = f"{prefix}.enc_attention"
        return CrossAttention(
            norm(f"{prefix}.pre_enc_attention"),
            Linear(_scaled(take(f"{name}.ff_q.weight", size, size), heads)),
            Linear(_separated(take(f"{name}.ff_kv.weight", 2 * size, size), heads)),
            Linear(take(f"{name}.ff_out.weight", size, size)),
        )

    def feed_forward(prefix: str, hidden: int) -> FeedForward:
        return FeedForward(
            norm(f"{prefix}.pre_ff"),
            Linear(
                take(f"{prefix}.ff.ff1.weight", hidden, size), take(f"{prefix}.ff.ff1.bias", hidden)
            ),
            Linear(
                take(f"{prefix}.ff.ff2.weight", size, hidden), take(f"{prefix}.ff.ff2.bias", size)
            ),
        )

    def encoder_layer(index: int) -> EncoderLayer:
        prefix = f"encoder.layers.{index}"
        return EncoderLayer(
            self_attention(prefix, "self_attention", config.encoder_heads),
            feed_forward(prefix, config.encoder_hidden),
        )

    def decoder_layer(index: int) -> DecoderLayer:
        prefix = f"decoder.layers.{index}"
        return DecoderLayer(
            self_attention(prefix, "autoregr_layer", config.decoder_heads),
            cross_attention(prefix, config.decoder_heads),
            feed_forward(prefix, config.decoder_hidden),
        )

    missing = -target_size % OUTPUT_MULTIPLE
    output = take("output_layer.weight", target_size, size)
    output_bias = take("output_layer.bias", target_size)
    return Weights(
        source_embedding=take("embedding_source.embedding.weight", source_size, size) * size**0.5,
        target_embedding=take("embedding_target.embedding.weight", target_size, size) * size**0.5,
        source_positions=take("encoder.pos_embedding.weight", config.max_source, size),
        target_positions=take("decoder.pos_embedding.weight", config.max_target, size),
        encoder=[encoder_layer(index) for index in range(config.encoder_layers)],
        encoder_norm=norm("encoder.final_process"),
        decoder=[decoder_layer(index) for index in range(config.decoder_layers)],
        decoder_norm=norm("decoder.final_process"),
        output=Linear(
            F.pad(output, (0, 0, 0, missing)), F.pad(output_bias, (0, missing), value=-math.inf)
        ),
    )


def _scaled(query: Tensor, heads: int) -> Tensor:
    """Return query projections that include the scale of the dot product."""
    return query * (query.shape[0] // heads) ** -0.5


def _separated(memory: Tensor, heads: int) -> Tensor:
    """Turn rows (head, key | value, d), as Sockeye saves them, into (key | value, head, d)."""
    return memory.unflatten(0, (heads, 2, -1)).transpose(0, 1).flatten(0, 2)


def _convert(weights: Any, device: torch.device, dtype: torch.dtype) -> Any:
    """Return a tree of weights (dataclasses and lists of tensors) on `device` in `dtype`."""
    if isinstance(weights, Linear):
        return weights.to(device, dtype)
    if isinstance(weights, Tensor):
        return weights.to(device, dtype).contiguous()
    if isinstance(weights, list):
        return [_convert(item, device, dtype) for item in weights]
    return type(weights)(
        **{name: _convert(item, device, dtype) for name, item in vars(weights).items()}
    )
