"""The blocks that layers are made of: how they enter and leave, and what a decoder asks of them.

Letters of shapes: S sentences, L source positions, B target sequences, T target positions,
N decoder slots, R rows of a product (`linear.filled_up`), H heads, D model size, d = D / H,
V vocabulary size.
"""

from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812 (the name that torch's own documentation uses)
from torch import Tensor

from workflow_scripts.nmt.linear import Linear, filled_up

NORM_EPSILON = 1e-6


@dataclass
class Norm:
    """A layer normalisation; weight and bias: [D]."""

    weight: Tensor
    bias: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """Normalise the last dimension."""
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, NORM_EPSILON)


@dataclass
class Frame:
    """How a block enters and leaves: the norm of what it reads, the norm of what it puts out.

    A pre-norm block has `before` alone, a post-norm block has `after` alone. Every block adds what
    it computes to what came in; `leave` takes that sum.
    """

    before: Norm | None = None
    after: Norm | None = None

    def enter(self, x: Tensor) -> Tensor:
        """Return what the block reads of `x`."""
        return x if self.before is None else self.before(x)

    def leave(self, total: Tensor) -> Tensor:
        """Return what the block puts out, given the sum of `x` and what it has computed."""
        return total if self.after is None else self.after(total)


@dataclass
class FeedForward:
    """Two products, one of `linear.ACTIVATIONS` between; weights [hidden, D] and [D, hidden]."""

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
    """Sequences whose positions are all computed at once: `count` of `width` positions.

    Their rows [R, D] stand sequence after sequence; below them rows are filled up.
    """

    count: int
    width: int

    def heads(self, x: Tensor, heads: int) -> Tensor:
        """Turn rows [R, heads * d] into [count, heads, width, d]."""
        return x[: self.count * self.width].view(self.count, self.width, heads, -1).transpose(1, 2)

    def rows(self, x: Tensor) -> Tensor:
        """Turn [count, heads, width, d] into rows [R, heads * d], zeros below what there is."""
        heads, depth = x.shape[1], x.shape[3]
        filled = self.count * self.width
        flat = x.new_zeros(filled_up(filled), heads * depth)
        flat[:filled].view(self.count, self.width, heads, depth).copy_(x.transpose(1, 2))
        return flat


@dataclass
class Moment:
    """What a layer may know of the slots in a step.

    `slot`: [N], 0..N-1; `position`: [N], how many tokens each slot has read before; `unread`:
    [N, room], true at positions that a slot has not reached, this step's own not among them.
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
    """What a block keeps of the prefixes in all slots. The decoder does not look into it."""

    def grow(self, room: int) -> None:
        """Make room for `room` positions in every slot; the next steps go no further."""

    def copy(self, sources: Tensor, targets: Tensor, read: int) -> None:
        """Copy slots `sources` [M] to slots `targets` [M]; none has read more than `read` tokens.

        No slot is both a source and a target.
        """

    def follow(self, parents: Tensor) -> None:
        """Let slots 0..N-1 go on from slots `parents` [N]. Nothing is read from the device."""

    def step(self, x: Tensor, moment: Moment) -> Tensor:
        """Let all slots go on by one position, and return the block's output [R, D].

        `x` [R, D] has a row for every slot, then rows without meaning; so has what is returned. A
        slot at position 0 begins a prefix: what is kept there belongs to another. Nothing is read
        from the device.
        """


class PrefixBlock(Protocol):
    """The block of a decoder layer that looks at the prefix: this position and those before."""

    def forced(self, x: Tensor, grid: Grid) -> Tensor:
        """Return the block's output [R, D] for `x` [R, D], all positions of the targets in `grid`.

        No position sees a later one.
        """

    def state(self, capacity: int, like: Tensor) -> PrefixState:
        """Return the state of `capacity` slots, on the device and in the precision of `like`.

        Its last dimension is D.
        """
