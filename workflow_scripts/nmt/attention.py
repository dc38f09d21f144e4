"""Attention blocks, and the keys and values that self-attention keeps for each prefix.

Letters of shapes as in `blocks`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Self

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from workflow_scripts.nmt.blocks import Frame, Grid, Moment
from workflow_scripts.nmt.linear import Linear, fill_up, stacked

# Tensors grow in steps of this many positions of a prefix or source, or places of sources.
GROWTH = 16


@dataclass
class Attention:
    """An attention block: a product, the attention of each head, another product."""

    frame: Frame
    heads: int
    inward: Linear
    out: Linear

    def __call__(self, x: Tensor, attend: Callable[[Tensor], Tensor]) -> Tensor:
        """Return the block's output for `x` [R, D].

        `attend` turns the output of `inward` [R, ...] into contexts [R, D].
        """
        projected = self.inward(self.frame.enter(x))
        return self.frame.leave(self.out.added(attend(projected), x))


@dataclass
class SelfAttention(Attention):
    """Attention of a sequence to itself.

    `inward`: [3D, D] for queries (scaled by d ** -0.5), keys, values; `out`: [D, D].
    """

    @classmethod
    def of(
        cls, frame: Frame, heads: int, *, query: Linear, key: Linear, value: Linear, out: Linear
    ) -> Self:
        """Return the block that these plain weights [D, D] make.

        The rows of `query`, `key` and `value` are in the order of the heads.
        """
        return cls(frame, heads, stacked([_scaled(query, heads), key, value]), out)

    def whole(self, x: Tensor, grid: Grid, mask: Tensor | None) -> Tensor:
        """Return the block's output for all positions of `grid`.

        Without a mask no position sees a later one.
        """

        def attend(projected: Tensor) -> Tensor:
            query, keys, values = grid.heads(projected, 3 * self.heads).chunk(3, 1)
            return grid.rows(_attend(query, keys, values, mask))

        return self(x, attend)

    def forced(self, x: Tensor, grid: Grid) -> Tensor:
        """See `PrefixBlock`."""
        return self.whole(x, grid, None)

    def state(self, capacity: int, like: Tensor) -> "KeysAndValues":
        """See `PrefixBlock`."""
        return KeysAndValues(self, capacity, like)


@dataclass
class CrossAttention(Attention):
    """Attention of targets to their sources.

    `inward`: [D, D] for queries (scaled by d ** -0.5); `memory`: [2D, D] for keys and values of the
    sources; `out`: [D, D].
    """

    memory: Linear

    @classmethod
    def of(
        cls, frame: Frame, heads: int, *, query: Linear, key: Linear, value: Linear, out: Linear
    ) -> Self:
        """Return the block that these plain weights [D, D] make; see `SelfAttention.of`."""
        return cls(frame, heads, _scaled(query, heads), out, stacked([key, value]))

    def remember(self, encoded: Tensor, grid: Grid) -> tuple[Tensor, Tensor]:
        """Return keys and values [S, H, L, d] of the encoder's output [R, D] for `grid`."""
        keys, values = grid.heads(self.memory(encoded), 2 * self.heads).chunk(2, dim=1)
        return keys, values


def attend_whole(keys: Tensor, values: Tensor, mask: Tensor, grid: Grid, query: Tensor) -> Tensor:
    """Return the contexts [R, D] of all positions of `grid`, one target for each source.

    Args:
        keys: [B, H, L, d].
        values: like `keys`.
        mask: [B, 1, 1, L], true where a source has a token.
        grid: of the B targets.
        query: [R, D], as `CrossAttention` makes it.
    """
    return grid.rows(_attend(grid.heads(query, keys.shape[1]), keys, values, mask))


class KeysAndValues:
    """The state of self-attention: keys and values of all positions that the slots have read.

    `_kept` is [2, capacity, H, T, d]. On a CPU it is in fp32: the product with one query is slow
    there in bf16.
    """

    def __init__(self, block: SelfAttention, capacity: int, like: Tensor):
        self._block = block
        self._room = 0
        kind = torch.float32 if like.device.type == "cpu" else like.dtype
        depth = like.shape[-1] // block.heads
        self._kept = like.new_zeros(2, capacity, block.heads, GROWTH, depth, dtype=kind)

    def grow(self, room: int) -> None:
        """See `PrefixState`."""
        self._kept = grown(self._kept, 3, room)
        self._room = room

    def copy(self, sources: Tensor, targets: Tensor, read: int) -> None:
        """See `PrefixState`."""
        for kept in self._kept[:, :, :, :read]:
            kept.index_copy_(0, targets, kept.index_select(0, sources))

    def follow(self, parents: Tensor) -> None:
        """See `PrefixState`."""
        kept = self._kept[:, : len(parents), :, : self._room]
        kept.copy_(kept[:, parents])

    def step(self, x: Tensor, moment: Moment) -> Tensor:
        """See `PrefixState`."""
        return self._block(x, partial(self._attend, moment))

    def _attend(self, moment: Moment, projected: Tensor) -> Tensor:
        """Keep the keys and values of a new position; return the contexts [R, D]."""
        count = len(moment.slot)
        new = projected[:count].unflatten(1, (3, self._block.heads, -1)).to(self._kept.dtype)
        self._kept[:, moment.slot, :, moment.position] = new[:, 1:]
        keys, values = self._kept[:, :count, :, : self._room]
        context = _attend_once(new[:, 0], keys, values, moment.unread)
        return fill_up(context.to(projected.dtype))


def grown(tensor: Tensor, dim: int, size: int, fill: int = 0) -> Tensor:
    """Return `tensor` with at least `size` entries along `dim`; the new ones are `fill`."""
    if tensor.shape[dim] >= size:
        return tensor
    shape = list(tensor.shape)
    shape[dim] = -(-size // GROWTH) * GROWTH
    larger = tensor.new_full(shape, fill)
    larger.narrow(dim, 0, tensor.shape[dim]).copy_(tensor)
    return larger


def _scaled(query: Linear, heads: int) -> Linear:
    """Return query projections that include the scale of the dot product."""
    scale = (query.weight.shape[0] // heads) ** -0.5
    return Linear(query.weight * scale, None if query.bias is None else query.bias * scale)


def _attend(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
    return F.scaled_dot_product_attention(
        query, keys, values, attn_mask=mask, is_causal=mask is None, scale=1.0
    )


def _attend_once(query: Tensor, keys: Tensor, values: Tensor, masked: Tensor) -> Tensor:
    """Return the attention of one query per slot.

    Args:
        query: [N, H, d], scaled.
        keys: [N, H, T, d], a view into what is kept.
        values: like `keys`.
        masked: [N, T], true where a slot has no token.

    Returns:
        The contexts [N, D].
    """
    count, heads, depth = query.shape
    # One batched product over slots and heads: on a CPU a third faster than torch's attention.
    weights = torch.bmm(query.reshape(-1, 1, depth), keys.flatten(0, 1).transpose(1, 2))
    weights = weights.view(count, heads, -1).masked_fill_(masked[:, None], -torch.inf)
    weights = weights.softmax(dim=2).view(count * heads, 1, -1)
    return torch.bmm(weights, values.flatten(0, 1)).view(count, -1)
