"""The Transformer of Sockeye 3 for inference: pre-norm, ReLU, fixed positions (DESIGN 5).

Letters of shapes: S sentences, L source positions, B target sequences, T target positions,
N decoder slots, R rows of a product (`linear.filled_up`), H heads, D model size, d = D / H,
V vocabulary size.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812 (the name that torch's own documentation uses)
from torch import Tensor

from workflow_scripts.nmt.linear import Linear, fill_up
from workflow_scripts.nmt.vocabulary import BOS, EOS, PAD, Vocabulary

NORM_EPSILON = 1e-6


@dataclass(frozen=True)
class ModelConfig:
    """What inference needs to know of a model beyond its weights.

    `max_source` and `max_target` are the positions it was trained with (the source counts its
    </s>, the target its <s>); `length_ratio` and `length_ratio_std` are target over source
    length in the training data.
    """

    size: int
    encoder_layers: int
    decoder_layers: int
    encoder_heads: int
    decoder_heads: int
    encoder_hidden: int
    decoder_hidden: int
    max_source: int
    max_target: int
    length_ratio: float
    length_ratio_std: float


@dataclass
class Norm:
    """A layer normalisation; weight and bias: [D]."""

    weight: Tensor
    bias: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """Normalise the last dimension."""
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, NORM_EPSILON)


@dataclass
class SelfAttention:
    """`inward`: [3D, D] for queries (scaled), keys, values; `out`: [D, D]."""

    norm: Norm
    inward: Linear
    out: Linear


@dataclass
class CrossAttention:
    """`query`: [D, D] (scaled), `memory`: [2D, D] for keys and values, `out`: [D, D]."""

    norm: Norm
    query: Linear
    memory: Linear
    out: Linear


@dataclass
class FeedForward:
    """Two layers with a ReLU between; weights [hidden, D] and [D, hidden]."""

    norm: Norm
    inward: Linear
    out: Linear

    def __call__(self, x: Tensor) -> Tensor:
        """Return `x` with the block's output added."""
        return self.out.added(self.inward.relu(self.norm(x)), x)


@dataclass
class EncoderLayer:
    """One layer of the encoder."""

    attention: SelfAttention
    feed_forward: FeedForward


@dataclass
class DecoderLayer:
    """One layer of the decoder."""

    attention: SelfAttention
    cross: CrossAttention
    feed_forward: FeedForward


@dataclass
class Weights:
    """All tensors of a model; `output` may have more rows than pieces (bias -inf)."""

    source_embedding: Tensor
    target_embedding: Tensor
    source_positions: Tensor
    target_positions: Tensor
    encoder: list[EncoderLayer]
    encoder_norm: Norm
    decoder: list[DecoderLayer]
    decoder_norm: Norm
    output: Linear


@dataclass
class Memory:
    """What the decoder sees of its source sentences, per layer of the decoder.

    `keys`, `values`: [S, H, L, d] each; `lengths`: [S] counts valid source positions.
    """

    keys: list[Tensor]
    values: list[Tensor]
    lengths: Tensor

    def select(self, index: Tensor) -> "Memory":
        """Return the memory of the sentences at `index`, which may repeat."""
        return Memory(
            [keys[index] for keys in self.keys],
            [values[index] for values in self.values],
            self.lengths[index],
        )


class Model:
    """A Sockeye 3 model on one device.

    Everything it computes is in `dtype`. The embeddings are kept scaled by sqrt(D) and the query
    projections by d ** -0.5, as every use wants them.
    """

    def __init__(
        self,
        config: ModelConfig,
        weights: Weights,
        source_vocab: Vocabulary,
        target_vocab: Vocabulary,
    ):
        self.config = config
        self.weights = weights
        self.source_vocab = source_vocab
        self.target_vocab = target_vocab
        self.device = weights.target_embedding.device
        self.dtype = weights.target_embedding.dtype

    @property
    def max_source_pieces(self) -> int:
        """How many pieces a source sentence may have (its </s> not counted)."""
        return self.config.max_source - 1

    @property
    def max_target_pieces(self) -> int:
        """How many pieces a target may have to be scored (its <s> not counted)."""
        return self.config.max_target - 1

    def can_read(self, source: Sequence[int]) -> bool:
        """Tell whether a source of piece ids is neither empty nor longer than the model takes."""
        return 0 < len(source) <= self.max_source_pieces

    def max_output_length(self, source_pieces: int) -> int:
        """Return how many tokens, </s> included, an output may have (the rule of Sockeye)."""
        factor = self.config.length_ratio + 2 * self.config.length_ratio_std
        return math.ceil(factor * (source_pieces + 1))

    def encode(self, sources: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Encode sentences of piece ids (without </s>).

        Returns:
            The encoder's output [S, L, D] and the lengths [S] with </s>. Positions beyond a
            sentence's length hold numbers without meaning.
        """
        tokens = self._padded([[*source, EOS] for source in sources])
        lengths = self.integers([len(source) + 1 for source in sources])
        count, width = tokens.shape
        mask = _valid(lengths, width)[:, None, None]
        weights, heads = self.weights, self.config.encoder_heads
        x = weights.source_embedding[tokens] + weights.source_positions[:width]
        x = fill_up(x.flatten(0, 1))
        for layer in weights.encoder:
            x = _attend_self(x, count, width, layer.attention, heads, mask)
            x = layer.feed_forward(x)
        return weights.encoder_norm(x[: tokens.numel()]).view(count, width, -1), lengths

    def remember(self, encoded: Tensor, lengths: Tensor) -> Memory:
        """Project the encoder's output [S, L, D] to the keys and values of all decoder layers."""
        keys, values = [], []
        count, width = encoded.shape[:2]
        rows, heads = fill_up(encoded.flatten(0, 1)), 2 * self.config.decoder_heads
        for layer in self.weights.decoder:
            projected = _heads(layer.cross.memory(rows), count, width, heads)
            key, value = projected.chunk(2, dim=1)
            keys.append(key)
            values.append(value)
        return Memory(keys, values, lengths)

    def decode(self, targets: list[list[int]], memory: Memory) -> Tensor:
        """Teacher-forced decoding of B targets of piece ids, one for each sentence of `memory`.

        Returns:
            The decoder's output [tokens, D] before every piece and </s>, target after target.
        """
        tokens = self._padded([[BOS, *target] for target in targets])
        count, width = tokens.shape
        # A mask would do as well, but an accelerator would be waited for to count it.
        wanted = [
            row * width + position
            for row, target in enumerate(targets)
            for position in range(len(target) + 1)
        ]
        weights, heads = self.weights, self.config.decoder_heads
        x = weights.target_embedding[tokens] + weights.target_positions[:width]
        x = fill_up(x.flatten(0, 1))
        cross_mask = _valid(memory.lengths, memory.keys[0].shape[2])[:, None, None]
        for layer, keys, values in zip(weights.decoder, memory.keys, memory.values, strict=True):
            x = _attend_self(x, count, width, layer.attention, heads, None)
            query = _heads(layer.cross.query(layer.cross.norm(x)), count, width, heads)
            context = F.scaled_dot_product_attention(
                query, keys, values, attn_mask=cross_mask, scale=1.0
            )
            x = layer.cross.out.added(_rows(context, len(x)), x)
            x = layer.feed_forward(x)
        return weights.decoder_norm(x)[self.integers(wanted)]

    def labels(self, targets: list[list[int]]) -> Tensor:
        """Return the ids [tokens] that `decode` has to predict: each target, then its </s>."""
        return self.integers([token for target in targets for token in (*target, EOS)])

    def integers(self, values: Sequence[int] | Sequence[Sequence[int]]) -> Tensor:
        """Return integers as a tensor on the device, without waiting for what it computes."""
        return torch.tensor(values, dtype=torch.int64).to(self.device, non_blocking=True)

    def logits(self, hidden: Tensor) -> Tensor:
        """Return the scores [N, output rows] of the decoder's output [N, D]."""
        return self.weights.output(hidden)

    def _padded(self, sequences: list[list[int]]) -> Tensor:
        """Return ids [S, L] filled up with <pad>."""
        width = max(map(len, sequences))
        return self.integers([sequence + [PAD] * (width - len(sequence)) for sequence in sequences])


def log_normaliser(logits: Tensor, maximum: Tensor) -> Tensor:
    """Return log sum exp of every row of `logits` [N, V], given its maximum [N].

    The logits are overwritten: at this size memory traffic is what it costs.
    """
    return logits.sub_(maximum[:, None]).exp_().sum(dim=1).log_().add_(maximum)


def _attend_self(
    x: Tensor, count: int, width: int, block: SelfAttention, heads: int, mask: Tensor | None
) -> Tensor:
    """Return `x` [R, D], `count` sequences of `width` positions, plus its self-attention.

    It is causal where no mask is given.
    """
    projected = _heads(block.inward(block.norm(x)), count, width, 3 * heads)
    query, key, value = projected.chunk(3, 1)
    context = F.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, is_causal=mask is None, scale=1.0
    )
    return block.out.added(_rows(context, len(x)), x)


def _heads(x: Tensor, count: int, width: int, heads: int) -> Tensor:
    """Turn [R, heads * d], `count` sequences of `width`, into [count, heads, width, d]."""
    return x[: count * width].view(count, width, heads, -1).transpose(1, 2)


def _rows(x: Tensor, rows: int) -> Tensor:
    """Turn [count, heads, width, d] into [rows, heads * d], zeros below what there is."""
    count, heads, width, depth = x.shape
    flat = x.new_zeros(rows, heads * depth)
    flat[: count * width].view(count, width, heads, depth).copy_(x.transpose(1, 2))
    return flat


def _valid(lengths: Tensor, width: int) -> Tensor:
    """Return the mask [S, width] that is true below the lengths [S]."""
    return torch.arange(width, device=lengths.device) < lengths[:, None]
