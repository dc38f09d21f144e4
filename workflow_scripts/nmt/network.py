"""A network as a loader describes it: its sizes, its layers as data, its weights by their roles.

Letters of shapes as in `blocks`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Self

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from workflow_scripts.nmt.attention import CrossAttention, SelfAttention
from workflow_scripts.nmt.blocks import FeedForward, Grid, Norm, PrefixBlock
from workflow_scripts.nmt.linear import Linear
from workflow_scripts.nmt.precision import FP32, Precision
from workflow_scripts.nmt.vocabulary import EOS

# Rows of the output layer are filled up to a multiple of this, so that the search can look for the
# best pieces block by block.
OUTPUT_MULTIPLE = 64


@dataclass(frozen=True)
class Sizes:
    """What the search needs to know of a network beyond its layers.

    `size`: D; `max_source` and `max_target`: how many positions it was trained with (the source's
    </s> and the target's <s> count); `longest_output`: how many tokens an output may have for each
    token of its source (</s> counts on both sides); `most_output`: how many it may have at all.
    """

    size: int
    max_source: int
    max_target: int
    longest_output: float
    most_output: int | None = None


@dataclass(frozen=True)
class Marks:
    """Tokens that every sentence of a model has beside its own pieces, such as language codes.

    `first`: what stands first in a source, if anything does; `end`: what its pieces are followed
    by; `lead`: what the decoder reads before <s>. They are no part of an output: they have no NLL
    and no length.
    """

    first: int | None = None
    end: tuple[int, ...] = (EOS,)
    lead: tuple[int, ...] = ()


@dataclass
class Embedding:
    """Vectors of pieces, which are multiplied by `scale`, and of positions [P, D].

    `pieces` is a table [R, D], perhaps a file's own that stays there, in a narrower type than the
    rest; `rows`: which of its rows each piece has [V], None if they are in order; `divisors`: what
    its rows are divided by [R, 1], if they are whole numbers. `norm` is that of the sum.
    """

    pieces: Tensor
    positions: Tensor
    scale: float = 1.0
    norm: Norm | None = None
    rows: Tensor | None = None
    divisors: Tensor | None = field(default=None, metadata={"precision": FP32})

    def whole(self, tokens: Tensor) -> Tensor:
        """Return the vectors [S, L, D] of `tokens` [S, L] at the positions 0..L-1."""
        return self._sum(tokens, self.positions[: tokens.shape[1]])

    def at(self, tokens: Tensor, position: Tensor) -> Tensor:
        """Return the vectors [N, D] of `tokens` at `position` [N].

        Positions after the last one that is known have its vector, as in Sockeye.
        """
        return self._sum(tokens, self.positions[position.clamp(max=len(self.positions) - 1)])

    def _sum(self, tokens: Tensor, positions: Tensor) -> Tensor:
        rows = tokens if self.rows is None else self.rows[tokens]
        pieces = self.pieces[rows]
        if self.divisors is not None:
            pieces = pieces / self.divisors[rows]
        pieces = pieces.to(positions.dtype)
        x = (pieces if self.scale == 1 else pieces * self.scale) + positions
        return x if self.norm is None else self.norm(x)


@dataclass
class EncoderLayer:
    """One layer of the encoder."""

    attention: SelfAttention
    feed_forward: FeedForward

    def __call__(self, x: Tensor, grid: Grid, mask: Tensor) -> Tensor:
        """Return the layer's output for `x` [R, D]; `mask` is true at tokens [S, 1, 1, L]."""
        return self.feed_forward(self.attention.whole(x, grid, mask))


@dataclass
class DecoderLayer:
    """One layer of the decoder: it reads the prefix, then the source."""

    prefix: PrefixBlock
    cross: CrossAttention
    feed_forward: FeedForward

    def __call__(
        self,
        x: Tensor,
        read_prefix: Callable[[Tensor], Tensor],
        attend: Callable[[Tensor], Tensor],
    ) -> Tensor:
        """Return the layer's output for `x` [R, D].

        `read_prefix` calls `prefix` for all positions at once, or its state for one step; `attend`
        is the function that `cross` needs.
        """
        return self.feed_forward(self.cross(read_prefix(x), attend))


@dataclass
class Network:
    """An encoder and a decoder with all their tensors.

    The norm after the last layer is None if the layers themselves end with a norm. `output` may
    have more rows than there are pieces; the bias of the further rows is minus infinity.
    """

    sizes: Sizes
    source: Embedding
    target: Embedding
    encoder: list[EncoderLayer]
    encoder_norm: Norm | None
    decoder: list[DecoderLayer]
    decoder_norm: Norm | None
    output: Linear
    marks: Marks = Marks()

    def encoded(self, x: Tensor) -> Tensor:
        """Return the encoder's output [R, D], given the output of its last layer."""
        return x if self.encoder_norm is None else self.encoder_norm(x)

    def decoded(self, x: Tensor) -> Tensor:
        """Return the decoder's output [R, D], given the output of its last layer."""
        return x if self.decoder_norm is None else self.decoder_norm(x)

    def to(self, device: torch.device, precision: Precision) -> Self:
        """Put the network on a device in a precision; weights are packed where that is faster.

        The network must be as a loader makes it: on the CPU, in fp32.
        """
        one = self.source.pieces is self.target.pieces
        converted(self, device, precision)
        if one:
            self.source.pieces = self.target.pieces
        return self


def output_layer(weight: Tensor, bias: Tensor) -> Linear:
    """Return the output layer of plain weights [V, D] and [V], with its rows filled up."""
    missing = -len(weight) % OUTPUT_MULTIPLE
    return Linear(F.pad(weight, (0, 0, 0, missing)), F.pad(bias, (0, missing), value=-math.inf))


def converted(thing: Any, device: torch.device, precision: Precision) -> Any:
    """Put all tensors of a tree of dataclasses and lists on `device` in a precision.

    Each takes the place of what it was made of, so that few exist twice. The output, which is the
    largest, comes first, while all others are small. What is narrower already stays as it is. A
    field may name a precision of its own.
    """
    if isinstance(thing, Linear):
        return precision.linear(thing, device)
    if isinstance(thing, Tensor):
        narrow = not thing.is_floating_point() or thing.itemsize < precision.dtype.itemsize
        return thing.to(device, thing.dtype if narrow else precision.dtype).contiguous()
    if isinstance(thing, list):
        for place, item in enumerate(thing):
            thing[place] = converted(item, device, precision)
    elif is_dataclass(thing) and not isinstance(thing, type):
        for part in reversed(fields(thing)):
            old = getattr(thing, part.name)
            new = converted(old, device, part.metadata.get("precision", precision))
            if new is not old:
                setattr(thing, part.name, new)
    return thing
