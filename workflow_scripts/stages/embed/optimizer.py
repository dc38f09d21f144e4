"""Adam for tables of vectors of which each step touches a few rows.

Only the rows that occur in a mini-batch are updated, and only their moments: "lazy" Adam, as in
torch.optim.SparseAdam, but on rows already gathered, each once.
"""

import torch
from torch import Tensor

_BETAS = (0.9, 0.999)
_EPSILON = 1e-8


class LazyAdam:
    """The moments of one table of vectors, and its updates."""

    def __init__(self, table: Tensor, learning_rate: float):
        self._table = table
        self._learning_rate = learning_rate
        self.first = torch.zeros_like(table)
        self.second = torch.zeros_like(table)

    @torch.no_grad()
    def step(self, rows: Tensor, gradient: Tensor, number: int) -> None:
        """Update some rows of the table.

        Args:
            rows: their indices, each once, shape (rows,).
            gradient: shape (rows, dimension).
            number: of this step of the whole training, from 1; it corrects the bias of the moments.
        """
        first = torch.lerp(gradient, self.first[rows], _BETAS[0])
        second = torch.lerp(gradient.square(), self.second[rows], _BETAS[1])
        self.first[rows], self.second[rows] = first, second
        rate = self._learning_rate / (1 - _BETAS[0] ** number)
        scale = second.div_(1 - _BETAS[1] ** number).sqrt_().add_(_EPSILON)
        self._table.index_add_(0, rows, first.div_(scale), alpha=-rate)
