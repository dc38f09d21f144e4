"""The blocks that layers consist of: their norms, and the methods that a decoder calls.

Letters of shapes: S sentences, L source positions, B target sequences, T target positions,
N decoder slots, R rows of a product (`linear.filled_up`), H heads, D model size, d = D / H,
V vocabulary size.
"""

from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812 (the name that torch's own documentation uses)
from torch import Tensor

from workflow_scripts.nmt.lineage import Lineage
from workflow_scripts.nmt.linear import Linear, filled_up

# What Sockeye and Marian add to the variance.
NORM_EPSILON = 1e-6


@dataclass
class Norm:
    """A layer normalisation; weight and bias: [D]; `epsilon` is added to the variance."""

    weight: Tensor
    bias: Tensor
    epsilon: float = NORM_EPSILON

    def __call__(self, x: Tensor) -> Tensor:
        """Normalise the last dimension."""
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.epsilon)


@dataclass
class Frame:
    """The norms of a block: one of its input, one of its output.

    A pre-norm block has only `before`, a post-norm block has only `after`. Every block adds what it
    computes to its input; `leave` takes that sum.
    """

    before: Norm | None = None
    after: Norm | None = None

    def enter(self, x: Tensor) -> Tensor:
        """Return the input `x` as the block reads it."""
        return x if self.before is None else self.before(x)

    def leave(self, total: Tensor) -> Tensor:
        """Return the block's output, given the sum of its input and what it has computed."""
        return total if self.after is None else self.after(total)


@dataclass
class FeedForward:
    """Two products with one of `linear.ACTIVATIONS` between; weights [hidden, D], [D, hidden]."""

    frame: Frame
    inward: Linear
    out: Linear
    activation: str

    def __call__(self, x: Tensor) -> Tensor:
        """Return `x` with the block's output added."""
        hidden = self.inward.activated(self.frame.enter(x), self.activation)
        return self.frame.leave(self.out.added(hidden, x))


@dataclass
class Grid:
    """`count` sequences of `width` positions, which are all computed at once.

    Their rows [R, D] stand sequence after sequence. Rows below them only fill up the number.
    """

    count: int
    width: int

    def heads(self, x: Tensor, heads: int) -> Tensor:
        """Turn rows [R, heads * d] into [count, heads, width, d]."""
        return self.spread(x).unflatten(2, (heads, -1)).transpose(1, 2)

    def spread(self, x: Tensor) -> Tensor:
        """Turn rows [R, C] into [count, width, C]."""
        return x[: self.count * self.width].view(self.count, self.width, -1)

    def rows(self, x: Tensor) -> Tensor:
        """Turn [count, width, ...] into rows [R, C]; the rows below are zeros."""
        filled = self.count * self.width
        flat = x.new_zeros(filled_up(filled), x[0, 0].numel())
        flat[:filled].view(x.shape).copy_(x)
        return flat


@dataclass
class SharedGrid(Grid):
    """A grid with positions that have one row together, since all that is computed is equal there.

    `row`: [count * width], the row of each position; `first`: [R], for each row a position that has
    it, for rows below any position.
    """

    row: Tensor
    first: Tensor

    def spread(self, x: Tensor) -> Tensor:
        """Turn rows [R, C] into [count, width, C]."""
        return x.index_select(0, self.row).view(self.count, self.width, -1)

    def rows(self, x: Tensor) -> Tensor:
        """Turn [count, width, ...] into rows [R, C]."""
        return x.flatten(0, 1).flatten(1).index_select(0, self.first)


@dataclass
class Moment:
    """What a layer may know about the slots in one step.

    `slot`: [N], 0..N-1; `position`: [N], how many tokens each slot has read before; `unread`:
    [N, room], true at positions after the one of this step.
    """

    slot: Tensor
    position: Tensor
    unread: Tensor

    @classmethod
    def of(cls, position: Tensor, room: int) -> "Moment":
        """Return the moment of slots at `position` [N], with `room` positions in their states."""
        slot = torch.arange(len(position), device=position.device)
        unread = torch.arange(room, device=position.device) > position[:, None]
        return cls(slot, position, unread)


class PrefixState(Protocol):
    """What a block keeps about the prefixes in all slots. The decoder does not look into it."""

    def begin(self, slots: Tensor, places: Tensor, lead: Tensor) -> None:
        """Let new slots [M], whose sentences are at `places` [M], have read the lead.

        `lead` [M, ...] is what `PrefixBlock.remember` returned for their sentences.
        """

    def grow(self, room: int) -> None:
        """Make room for `room` positions in every slot; the next steps need no more."""

    def copy(self, sources: Tensor, targets: Tensor, read: int) -> None:
        """Copy slots `sources` [M] to slots `targets` [M]; none has read more than `read` tokens.

        No slot is both a source and a target.
        """

    def follow(self, parents: Tensor) -> None:
        """Let slots 0..N-1 go on from slots `parents` [N]. Nothing is read from the device."""

    def step(self, x: Tensor, moment: Moment) -> Tensor:
        """Let all slots go on by one position, and return the block's output [R, D].

        `x` [R, D] has a row for every slot, then rows without meaning; so has the output. A slot at
        position 0 begins a new prefix: what is kept for it belongs to an earlier prefix. Nothing is
        read from the device.
        """


class PrefixBlock(Protocol):
    """The block of a decoder layer that reads the prefix: this position and those before."""

    def forced(self, x: Tensor, grid: Grid) -> Tensor:
        """Return the block's output [R, D] for `x` [R, D], all positions of the targets in `grid`.

        No position sees a later one.
        """

    def remember(self, x: Tensor, grid: Grid) -> Tensor:
        """Return what a state keeps of the prefixes `x` [R, D] in `grid`: [prefixes, ...]."""

    def state(self, capacity: int, like: Tensor) -> PrefixState:
        """Return the state of `capacity` slots, on the device and in the precision of `like`.

        Its last dimension is D.
        """

    def shared(self, lineage: Lineage, capacity: int, like: Tensor) -> PrefixState:
        """Return a state like that of `state` for slots that share the entries of a lineage."""
