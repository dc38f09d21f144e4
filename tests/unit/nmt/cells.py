"""A kind of layer that the search core does not know: its state does not grow with the prefix.

It is a recurrence in the manner of Kim et al. (2019), "From Research to Production and Back":
f = sigmoid(W_f x + b_f), c' = f * c + (1 - f) * W x, and relu(c') is added to x.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from workflow_scripts.nmt.blocks import Frame, Grid, Moment
from workflow_scripts.nmt.linear import Linear, fill_up
from workflow_scripts.nmt.loaders import PRECISIONS, sockeye3
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.network import DecoderLayer


@dataclass
class Cells:
    """A prefix block; weights [D, D]."""

    frame: Frame
    inward: Linear
    forget: Linear

    def parts(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return how much of a cell stays, and what is added to it."""
        read = self.frame.enter(x)
        stays = torch.sigmoid(self.forget(read))
        return stays, (1 - stays) * self.inward(read)

    def forced(self, x: Tensor, grid: Grid) -> Tensor:
        count = grid.count * grid.width
        stays, new = (
            part[:count].view(grid.count, grid.width, -1).unbind(1) for part in self.parts(x)
        )
        cells = [torch.zeros_like(new[0])]
        for one, other in zip(stays, new, strict=True):
            cells.append(one * cells[-1] + other)
        output = torch.stack(cells[1:], dim=1).flatten(0, 1).relu()
        return self.frame.leave(x + fill_up(output))

    def state(self, capacity: int, like: Tensor) -> "CellState":
        return CellState(self, like.new_zeros(capacity, like.shape[-1]))


class CellState:
    """One vector a slot, and no other methods than those that a state must have."""

    def __init__(self, block: Cells, cells: Tensor):
        self._block = block
        self._cells = cells

    def grow(self, room: int) -> None:
        pass

    def copy(self, sources: Tensor, targets: Tensor, read: int) -> None:
        self._cells[targets] = self._cells[sources]

    def follow(self, parents: Tensor) -> None:
        self._cells[: len(parents)] = self._cells[parents]

    def step(self, x: Tensor, moment: Moment) -> Tensor:
        count = len(moment.slot)
        stays, new = (part[:count] for part in self._block.parts(x))
        begins = (moment.position == 0)[:, None]
        cells = stays * self._cells[:count].masked_fill(begins, 0) + new
        self._cells[:count] = cells
        return self._block.frame.leave(x + fill_up(cells.relu()))


def load_with_cells(folder: Path, precision: str = "fp32") -> Model:
    """Load a Sockeye 3 model with cells in place of the decoder's self-attention, post-norm."""
    network, source_vocab, target_vocab = sockeye3.load(folder)
    generator = torch.Generator().manual_seed(11)
    size = network.sizes.size

    def linear(bias: Tensor | None) -> Linear:
        return Linear(torch.randn(size, size, generator=generator) * 2 * size**-0.5, bias)

    layers = []
    for layer in network.decoder:
        norms = [block.frame.before for block in (layer.prefix, layer.cross, layer.feed_forward)]
        frames = [Frame(after=norm) for norm in norms]
        cells = Cells(frames[0], linear(None), linear(torch.randn(size, generator=generator)))
        cross = replace(layer.cross, frame=frames[1])
        layers.append(DecoderLayer(cells, cross, replace(layer.feed_forward, frame=frames[2])))
    network = replace(network, decoder=layers, decoder_norm=None)
    device = torch.device("cpu")
    return Model(network.to(device, PRECISIONS[precision]), source_vocab, target_vocab)
