"""Tables of tensors, one row per hypothesis or sentence."""

from dataclasses import dataclass, fields
from typing import Self

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from workflow_scripts.nmt.vocabulary import PAD


@dataclass
class Columns:
    """Base of dataclasses whose fields are tensors of equal length.

    `output`: [rows, ..., longest output], the tokens written so far, filled up with <pad>.
    """

    output: Tensor

    def __len__(self) -> int:
        return len(self.output)

    def select(self, index: Tensor) -> Self:
        """Return the rows at `index`, or where a mask `index` is true."""
        return type(self)(*(getattr(self, column.name)[index] for column in fields(self)))

    def join(self, other: Self) -> Self:
        """Return these rows, then those of `other`."""
        width = max(self.output.shape[-1], other.output.shape[-1])
        for table in (self, other):
            missing = width - table.output.shape[-1]
            table.output = F.pad(table.output, (0, missing), value=PAD)
        pairs = ((getattr(self, c.name), getattr(other, c.name)) for c in fields(self))
        return type(self)(*map(torch.cat, pairs))
