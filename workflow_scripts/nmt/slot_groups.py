"""The slots of a decoder by their sentences, as attention computes them.

Letters of shapes as in `blocks`.
"""

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from workflow_scripts.nmt.linear import filled_up


class Groups:
    """Slots [N] arranged by place for attention: [places, G]; no place has more than G slots.

    An entry without a slot has what slot 0 has, and so has a row that only fills up.

    Attributes:
        places: how many there are.
        size: G.
        rank: [N], of each slot among those of its place.
        index: [N], of each slot among places x G.
    """

    def __init__(self, place: Tensor):
        counts = torch.bincount(place)
        order = torch.argsort(place, stable=True)
        rank = torch.empty_like(place)
        first = (counts.cumsum(0) - counts)[place[order]]
        rank[order] = torch.arange(len(place), device=place.device) - first
        self.places = len(counts)
        self.size = int(counts.max())
        self.rank = rank
        self.index = place * self.size + rank
        self._slots = place.new_zeros(self.places * self.size)
        self._slots[self.index] = torch.arange(len(place), device=place.device)
        self._rows = F.pad(self.index, (0, filled_up(len(place)) - len(place)))
        self._rows[len(place) :] = self.index[:1]

    def gather(self, x: Tensor, heads: int) -> Tensor:
        """Arrange rows [R, H d] as [places, H, G, d]."""
        arranged = x.index_select(0, self._slots)
        return arranged.view(self.places, self.size, heads, -1).transpose(1, 2)

    def scatter(self, x: Tensor) -> Tensor:
        """Take rows [R, D] back out of [places, H, G, d]."""
        return x.transpose(1, 2).reshape(self.places * self.size, -1).index_select(0, self._rows)
