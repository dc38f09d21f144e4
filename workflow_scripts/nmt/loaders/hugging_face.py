"""Loading of encoder-decoders of Hugging Face: Marian as OPUS-MT publishes it, and its relatives.

M2M100 and NLLB, BART, mBART and PEGASUS are one network with one set of names; what their classes
differ in is in `hugging_face_config`.
"""

from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.model_folder import HUGGING_FACE, ModelFiles
from workflow_scripts.nmt.attention import CrossAttention, SelfAttention
from workflow_scripts.nmt.blocks import FeedForward, Frame, Norm
from workflow_scripts.nmt.linear import Linear
from workflow_scripts.nmt.loaders.checkpoints import read_tensors
from workflow_scripts.nmt.loaders.description import Opened, Raw, Summary
from workflow_scripts.nmt.loaders.hugging_face_config import (
    ACTIVATIONS,
    FAMILIES,
    SIDES,
    not_supported,
    read_config,
    tell_what_is_not_followed,
)
from workflow_scripts.nmt.loaders.hugging_face_pieces import Order, Orders, read_orders
from workflow_scripts.nmt.loaders.parameters import Parameters
from workflow_scripts.nmt.network import (
    DecoderLayer,
    Embedding,
    EncoderLayer,
    Network,
    Sizes,
    output_layer,
)
from workflow_scripts.nmt.positions import sinusoids
from workflow_scripts.nmt.vocabulary import BOS, PAD

_NORM_EPSILON = 1e-5
# How many tokens an output may have for each token of its source, as with Marian.
_LONGEST_OUTPUT = 3.0
_MOST_POSITIONS = 5000
_SHARED = "model.shared.weight"
_EMBEDDINGS = tuple(f"model.{side}.embed_tokens.weight" for side in SIDES)
_OUTPUT = "lm_head.weight"
_BIAS = "final_logits_bias"
# Of early versions; the class reads none of them.
_UNUSED = tuple(
    f"model.{side}.{name}" for side in SIDES for name in ("version", "embed_positions.weights")
)
# Published files are in fp16.
_NEARLY = 2e-3


def opened(folder: Path, files: ModelFiles) -> Opened:
    """Return the parameters by Hugging Face's names, and the vocabularies.

    Computed positions and the shared table are left out. What the config ties is one tensor.
    """
    config = read_config(folder, files)
    if reasons := not_supported(config, files.kind):
        raise InputError(f"{folder / files.configs[0]}: not supported: {'; '.join(reasons)}")
    orders = read_orders(folder, files, config)
    weights = folder / files.weights
    if files.kind != HUGGING_FACE:
        tell_what_is_not_followed(folder, files)

    def build(tensors: dict[str, Tensor]) -> Network:
        parameters = Parameters(weights, dict(tensors))
        network = _Reader(parameters, config, orders).network()
        parameters.check_all_used()
        return network

    raw = Raw(_tidied(weights, stored(folder, files), config), frozenset(), build)
    return Opened(raw, orders.source.vocabulary, orders.target.vocabulary)


def stored(folder: Path, files: ModelFiles) -> dict[str, Tensor]:
    """Return the tensors of the file by their names there; tied ones may share their memory."""
    return read_tensors(folder / files.weights, files.parts)


def saved(folder: Path, files: ModelFiles, tensors: dict[str, Tensor]) -> tuple[str, bytes]:
    """Return the name and the content of a file of parameters, named as `opened` names them."""
    named = _as_in_files(read_config(folder, files), tensors)
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
    config = read_config(folder, files)
    if reasons := not_supported(config, files.kind):
        return Summary(refused=reasons)
    return Summary(
        layers=(config["encoder_layers"], config["decoder_layers"]),
        size=config["d_model"],
        vocabulary=(config["vocab_size"], config["decoder_vocab_size"]),
    )


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
            tidied |= {name: first for name in group if tied or name not in tidied}
    if shared:
        tidied.pop(_SHARED, None)
    for name in _UNUSED:
        tidied.pop(name, None)
    if FAMILIES[config["model_type"]].learned:
        return tidied
    for side in SIDES:
        name = _positions_of(side)
        if name in tidied and not _are_computed(tidied.pop(name).float(), config):
            raise InputError(f"{path}: {name} holds other positions than sines and cosines")
    return tidied


def _positions_of(side: str) -> str:
    return f"model.{side}.embed_positions.weight"


def _are_computed(positions: Tensor, config: dict[str, Any]) -> bool:
    if positions.dim() != 2 or positions.shape[1] != config["d_model"]:
        return False
    return torch.allclose(positions, _computed(config, len(positions)), atol=_NEARLY)


def _computed(config: dict[str, Any], count: int) -> Tensor:
    """Return the first `count` rows of the positions that a class computes."""
    size: int = config["d_model"]
    return sinusoids(count, size, step=size / 2 - FAMILIES[config["model_type"]].less)


class _Reader:
    """Makes the layers of a network from the parameters."""

    def __init__(self, parameters: Parameters, config: dict[str, Any], orders: Orders):
        self._parameters = parameters
        self._take = parameters.take
        self._config = config
        self._family = FAMILIES[config["model_type"]]
        self._orders = orders
        self._size: int = config["d_model"]

    def network(self) -> Network:
        """Return the whole network."""
        config, size, orders = self._config, self._size, self._orders
        names, keys = (*_EMBEDDINGS, _OUTPUT), ("vocab_size", *["decoder_vocab_size"] * 2)
        # The tables stay in the file; only what the output has is put in order.
        source, target, weight = (
            self._parameters.table(name, config[key], size)
            for name, key in zip(names, keys, strict=True)
        )
        weight = weight[orders.target.rows].float()
        output = output_layer(weight, self._bias(weight))
        del weight  # It is large, and has been copied.
        lead = orders.marks.lead
        longest = min(config["max_position_embeddings"], _MOST_POSITIONS)
        most = longest - len(lead) if self._family.learned else None
        reach = longest if self._family.learned else int(_LONGEST_OUTPUT * longest)
        return Network(
            Sizes(size, longest, longest, _LONGEST_OUTPUT, most),
            source=self._embedding("encoder", source, orders.source, longest),
            target=self._embedding("decoder", target, orders.target, reach),
            encoder=[self._encoder_layer(n) for n in range(config["encoder_layers"])],
            encoder_norm=self._final_norm("encoder"),
            decoder=[self._decoder_layer(n) for n in range(config["decoder_layers"])],
            decoder_norm=self._final_norm("decoder"),
            output=output,
            marks=orders.marks,
        )

    def _bias(self, weight: Tensor) -> Tensor:
        """Return the bias of the output [V], zeros like its `weight` if none is in the file."""
        config, rows = self._config, self._orders.target.rows
        if _BIAS in self._parameters or config["model_type"] == "marian":
            bias = self._take(_BIAS, 1, config["decoder_vocab_size"])[0][rows]
        else:
            bias = weight.new_zeros(len(rows))
        if rows[BOS] == rows[PAD]:
            # <s> and <pad> are one piece there; it counts once.
            bias[BOS] = -torch.inf
        return bias

    def _embedding(self, side: str, pieces: Tensor, order: Order, count: int) -> Embedding:
        """Return the table of a side's pieces and of its first `count` positions."""
        config, offset = self._config, self._family.offset
        if self._family.learned:
            rows = config["max_position_embeddings"] + offset
            positions = self._take(_positions_of(side), rows, self._size)[offset : offset + count]
        else:
            positions = _computed(config, offset + count)[offset:]
        scale = self._size**0.5 if config["scale_embedding"] else 1.0
        name = f"model.{side}.layernorm_embedding"
        norm = self._norm(name) if self._family.embedding_norm else None
        return Embedding(pieces, positions, scale, norm, order.rows.to(pieces.device))

    def _final_norm(self, side: str) -> Norm | None:
        return self._norm(f"model.{side}.layer_norm") if self._family.final_norms else None

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
            ACTIVATIONS[self._config["activation_function"]],
        )

    def _frame(self, name: str) -> Frame:
        norm = self._norm(f"{name}_layer_norm")
        return Frame(before=norm) if self._family.pre_norm else Frame(after=norm)

    def _norm(self, name: str) -> Norm:
        weight, bias = (self._take(f"{name}.{part}", self._size) for part in ("weight", "bias"))
        return Norm(weight, bias, _NORM_EPSILON)

    def _linear(self, name: str, inward: int, outward: int) -> Linear:
        weight = self._take(f"{name}.weight", outward, inward)
        return Linear(weight, self._take(f"{name}.bias", outward))
