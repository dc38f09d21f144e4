"""The simpler simple recurrent unit, in place of a decoder's self-attention.

Kim et al. (2019), "From Research to Production and Back: Ludicrously Fast Neural Machine
Translation", section 3.1. The state of a prefix is one vector, whatever its length. Letters of
shapes as in `blocks`.
"""

from dataclasses import dataclass
from typing import Self

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from workflow_scripts.nmt.blocks import Frame, Grid, Moment
from workflow_scripts.nmt.lineage import Lineage
from workflow_scripts.nmt.linear import Linear, stacked


@dataclass
class SSRU:
    """The recurrence c' = f * c + (1 - f) * W x with f = sigmoid(W_f x + b_f); it adds relu(c').

    `inward`: [2D, D], W_f over W.
    """

    frame: Frame
    inward: Linear

    @classmethod
    def of(cls, frame: Frame, *, forget: Linear, new: Linear) -> Self:
        """Return the block that these plain weights [D, D] make; `forget` has a bias."""
        return cls(frame, stacked([forget, Linear(new.weight, torch.zeros(len(new.weight)))]))

    def forced(self, x: Tensor, grid: Grid) -> Tensor:
        """See `PrefixBlock`."""
        return self._leave(x, grid.rows(self._cells(x, grid)))

    def remember(self, x: Tensor, grid: Grid) -> Tensor:
        """See `PrefixBlock`: the last cells [prefixes, D]."""
        return self._cells(x, grid)[:, -1]

    def _cells(self, x: Tensor, grid: Grid) -> Tensor:
        """Return the cells of all positions; only the recurrence goes position by position."""
        keeps, new = map(grid.spread, self._parts(x, len(x)))
        cell, cells = torch.zeros_like(new[:, 0]), []
        for added, keep in zip(new.unbind(1), keeps.unbind(1), strict=True):
            cell = torch.addcmul(added, keep, cell)
            cells.append(cell)
        return torch.stack(cells, dim=1)

    def state(self, capacity: int, like: Tensor) -> "Cells":
        """See `PrefixBlock`."""
        return Cells(self, capacity, like)

    def shared(self, lineage: Lineage, capacity: int, like: Tensor) -> "Cells":
        """See `PrefixBlock`; a cell is small enough to be copied."""
        return self.state(capacity, like)

    def advance(self, x: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
        """Return the block's output for `x` [R, D] and the next cells, given cells [N, D]."""
        keeps, new = self._parts(x, len(cells))
        cells = torch.addcmul(new, keeps, cells)
        return self._leave(x, cells), cells

    def _parts(self, x: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """Return how much of each of `count` cells stays, and what is added to it, in fp32."""
        forget, new = self.inward(self.frame.enter(x))[:count].float().chunk(2, dim=1)
        keeps = forget.sigmoid()
        return keeps, (1 - keeps) * new

    def _leave(self, x: Tensor, cells: Tensor) -> Tensor:
        rows = len(x) - len(cells)
        return self.frame.leave(x + F.pad(cells.relu(), (0, 0, 0, rows)).to(x.dtype))


class Cells:
    """The state of an SSRU: one vector a slot, in fp32 as errors add up over the positions."""

    def __init__(self, block: SSRU, capacity: int, like: Tensor):
        self._block = block
        self._kept = like.new_zeros(capacity, like.shape[-1], dtype=torch.float32)

    def begin(self, slots: Tensor, places: Tensor, lead: Tensor) -> None:
        """See `PrefixState`."""
        self._kept[slots] = lead

    def grow(self, room: int) -> None:
        """See `PrefixState`; a cell needs no room."""

    def copy(self, sources: Tensor, targets: Tensor, read: int) -> None:
        """See `PrefixState`."""
        self._kept.index_copy_(0, targets, self._kept.index_select(0, sources))

    def follow(self, parents: Tensor) -> None:
        """See `PrefixState`."""
        self._kept[: len(parents)] = self._kept[parents]

    def step(self, x: Tensor, moment: Moment) -> Tensor:
        """See `PrefixState`."""
        count = len(moment.slot)
        before = self._kept[:count].masked_fill((moment.position == 0)[:, None], 0)
        output, self._kept[:count] = self._block.advance(x, before)
        return output
