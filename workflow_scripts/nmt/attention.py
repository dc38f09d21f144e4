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
from workflow_scripts.nmt.lineage import Lineage
from workflow_scripts.nmt.linear import Linear, fill_up, has_bf16, stacked

# Sizes in positions of a prefix or source, or in places of sources, are multiples of this.
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
            return grid.rows(_attend(query, keys, values, mask).transpose(1, 2))

        return self(x, attend)

    def forced(self, x: Tensor, grid: Grid) -> Tensor:
        """See `PrefixBlock`."""
        return self.whole(x, grid, None)

    def remember(self, x: Tensor, grid: Grid) -> Tensor:
        """See `PrefixBlock`: keys and values [prefixes, 2, H, T, d]."""
        heads = grid.heads(self.inward(self.frame.enter(x)), 3 * self.heads)
        return heads[:, self.heads :].unflatten(1, (2, self.heads))

    def state(self, capacity: int, like: Tensor) -> "KeysAndValues":
        """See `PrefixBlock`."""
        return KeysAndValues(self, capacity, like)

    def shared(self, lineage: Lineage, capacity: int, like: Tensor) -> "SharedKeysAndValues":
        """See `PrefixBlock`."""
        return SharedKeysAndValues(self, lineage, like)


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
    contexts = _attend(grid.heads(query, keys.shape[1]), keys, values, mask)
    return grid.rows(contexts.transpose(1, 2))


class KeysAndValues:
    """The state of self-attention: keys and values of all positions that the slots have read.

    `_kept` is [2, capacity, H, T, d]. On a CPU it is in fp32: the product with one query is slow
    there in bf16.
    """

    def __init__(self, block: SelfAttention, capacity: int, like: Tensor):
        self._block = block
        kind = torch.float32 if like.device.type == "cpu" else like.dtype
        depth = like.shape[-1] // block.heads
        self._kept = like.new_zeros(2, capacity, block.heads, GROWTH, depth, dtype=kind)

    def begin(self, slots: Tensor, places: Tensor, lead: Tensor) -> None:
        """See `PrefixState`."""
        self._kept[:, slots, :, : lead.shape[3]] = lead.transpose(0, 1).to(self._kept.dtype)

    def grow(self, room: int) -> None:
        """See `PrefixState`."""
        self._kept = resized(self._kept, 3, room)

    def copy(self, sources: Tensor, targets: Tensor, read: int) -> None:
        """See `PrefixState`."""
        for cache in self._kept[:, :, :, :read]:
            cache.index_copy_(0, targets, cache.index_select(0, sources))

    def follow(self, parents: Tensor) -> None:
        """See `PrefixState`."""
        cache = self._kept[:, : len(parents)]
        cache.copy_(cache[:, parents])

    def step(self, x: Tensor, moment: Moment) -> Tensor:
        """See `PrefixState`."""
        return self._block(x, partial(self._attend, moment))

    def _attend(self, moment: Moment, projected: Tensor) -> Tensor:
        """Keep the keys and values of a new position; return the contexts [R, D]."""
        count = len(moment.slot)
        new = projected[:count].unflatten(1, (3, self._block.heads, -1)).to(self._kept.dtype)
        # By numbers of rows [capacity * H * T, d]: several times as fast as by three indices.
        heads, room = self._kept.shape[2:4]
        head = torch.arange(heads, device=new.device)
        rows = ((moment.slot[:, None] * heads + head) * room + moment.position[:, None]).flatten()
        for cache, added in zip(self._kept, new[:, 1:].unbind(1), strict=True):
            cache.view(-1, cache.shape[-1]).index_copy_(0, rows, added.flatten(0, 1))
        keys, values = self._kept[:, :count]
        context = _attend_once(new[:, 0], keys, values, moment.unread)
        return fill_up(context.to(projected.dtype))


class SharedKeysAndValues:
    """The state of self-attention in a beam: the keys and values of all entries of a lineage.

    `_kept` is [2, places, H, E, d].
    """

    def __init__(self, block: SelfAttention, lineage: Lineage, like: Tensor):
        self._block, self._lineage = block, lineage
        depth = like.shape[-1] // block.heads
        self._kept = like.new_zeros(2, 0, block.heads, 0, depth)
        lineage.add(self)

    def tidy(self, order: Tensor, room: int) -> None:
        """See `Store`."""
        old = resized(self._kept, 1, max(len(order), self._kept.shape[1]))
        _, places, heads, entries, depth = old.shape
        shape = (2, len(order), heads, room, depth)
        if not order.shape[1]:
            self._kept = old.new_zeros(shape)
            return
        # Numbers of rows [2 * places * H * E, d]; room for more has any of them.
        first = torch.arange(2 * places * heads, device=order.device).mul_(entries)
        first = first.view(2, places, heads, 1)[:, : len(order)]
        rows = first + F.pad(order, (0, room - order.shape[1]))[:, None]
        self._kept = old.view(-1, depth).index_select(0, rows.flatten()).view(shape)

    def begin(self, slots: Tensor, places: Tensor, lead: Tensor) -> None:
        """See `PrefixState`; slots of one place write the same."""
        by_entry = lead.permute(0, 3, 1, 2, 4).to(self._kept.dtype)
        self._kept[:, places[:, None], :, self._lineage.lead] = by_entry

    def grow(self, room: int) -> None:
        """See `PrefixState`; the lineage makes room."""

    def copy(self, sources: Tensor, targets: Tensor, read: int) -> None:
        """See `PrefixState`; slots have nothing of their own."""

    def follow(self, parents: Tensor) -> None:
        """See `PrefixState`; the lineage follows."""

    def step(self, x: Tensor, moment: Moment) -> Tensor:
        """See `PrefixState`."""
        return self._block(x, self._attend)

    def _attend(self, projected: Tensor) -> Tensor:
        """Keep the keys and values of the new entries; return the contexts [R, D]."""
        lineage, heads = self._lineage, self._block.heads
        groups = lineage.groups
        new = groups.gather(projected.to(self._kept.dtype), 3 * heads)
        query, keys, values = new.chunk(3, dim=1)
        cache = self._kept[:, : groups.places]
        cache[0].index_copy_(2, lineage.new, keys)
        cache[1].index_copy_(2, lineage.new, values)
        keys, values = cache
        context = attend_in_groups(query, keys, values, lineage.mask)
        return groups.scatter(context).to(projected.dtype)


def roomy(size: int) -> int:
    """Return `size` rounded up to a multiple of GROWTH."""
    return -(-size // GROWTH) * GROWTH


def resized(tensor: Tensor, dim: int, size: int, fill: int = 0) -> Tensor:
    """Return `tensor` with `size` entries along `dim`; new ones are `fill`, the last ones go.

    Keys and values become smaller when fewer are needed: a product of a part of a tensor takes up
    to three times as long as that of a whole one.
    """
    if tensor.shape[dim] == size:
        return tensor
    shape = list(tensor.shape)
    shape[dim] = size
    other = tensor.new_full(shape, fill)
    both = min(size, tensor.shape[dim])
    other.narrow(dim, 0, both).copy_(tensor.narrow(dim, 0, both))
    return other


def _scaled(query: Linear, heads: int) -> Linear:
    """Return query projections that include the scale of the dot product."""
    scale = (query.weight.shape[0] // heads) ** -0.5
    return Linear(query.weight * scale, None if query.bias is None else query.bias * scale)


def attend_in_groups(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Return the contexts [places, H, G, d] of several queries for each place.

    Args:
        query: [places, H, G, d], scaled.
        keys: [places, H, L, d].
        values: like `keys`.
        mask: added to the weights [places, H, G, L], minus infinity where a query may not look.
    """
    if query.device.type != "cpu":
        mask = mask.to(query.dtype)
        return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask, scale=1.0)
    if not has_bf16():  # products of bf16 take fifteen times as long as those of fp32
        query, keys, values = query.float(), keys.float(), values.float()
    # With so few queries two batched products are faster than torch's attention, in bf16 by half.
    weights = torch.matmul(query, keys.transpose(2, 3)).float().add_(mask).softmax(dim=3)
    return torch.matmul(weights.to(values.dtype), values)


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
