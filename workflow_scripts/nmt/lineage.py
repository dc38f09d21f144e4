"""What the hypotheses of a beam share: the keys and values of their sentence, each kept once.

A sentence has entries: one for every position that any of its hypotheses has read. Each hypothesis
knows which entries are its own prefix. To go on from another hypothesis is to take over what that
one knows, and no key or value is copied. Entries that no hypothesis has any more go away when there
is no room for new ones. Letters of shapes as in `blocks`, and E entries, G slots of a place.
"""

from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from workflow_scripts.nmt.slot_groups import Groups

# There is room for the entries of this many steps before those that nobody needs go away.
STEPS = 4


class Store(Protocol):
    """Keys and values of the entries of a lineage, in one layer."""

    def tidy(self, order: Tensor, room: int) -> None:
        """Keep the entries `order` [places, E] of each place, in this order, with room for more.

        All entries are there at once, as products of parts of a tensor are slower.
        """


class Lineage:
    """Which entries of its sentence each slot 0..N-1 of a decoder has.

    All places have as many entries, and the new ones of a step stand behind all others.

    Attributes:
        new: [G], the entries of this step.
        lead: [tokens of the lead], its entries for the slots that began last.
        mask: [places, 1, G, E], minus infinity at entries that a slot does not have.
        groups: the slots of this step by their places.
    """

    new: Tensor
    lead: Tensor
    mask: Tensor
    groups: Groups

    def __init__(self, device: torch.device) -> None:
        self._stores: list[Store] = []
        self._own = torch.zeros(0, 0, dtype=torch.bool, device=device)
        self._places = self._filled = 0

    def add(self, store: Store) -> None:
        """Let a store of keys and values have these entries."""
        self._stores.append(store)

    def start(self, count: int) -> None:
        """Add slots without entries."""
        self._own = F.pad(self._own, (0, 0, 0, count))

    def follow(self, parents: Tensor) -> None:
        """Let the slots be children of `parents`, one each."""
        self._own = self._own[parents]

    def arrange(self, groups: Groups, place: Tensor, stride: int, lead: int) -> None:
        """Make room for `stride` steps of the slots at `place` [N]; this reads the device.

        `lead` counts the entries that are not of steps.
        """
        self.groups = groups
        full = self._filled + lead + stride * groups.size > self._own.shape[1]
        if full or groups.places > self._places:
            self._tidy(place, lead + max(stride, STEPS) * groups.size)
        # Numbers of this step are on the device: on an accelerator each step of a stride is like
        # the one before.
        self._next = torch.arange(self._filled, self._filled + groups.size, device=self._own.device)

    def _tidy(self, place: Tensor, more: int) -> None:
        """Drop entries that no slot has, and make room for `more`."""
        used = torch.zeros(
            self.groups.places, self._own.shape[1], dtype=torch.int32, device=place.device
        ).index_add_(0, place, self._own.int())
        used = used.clamp_(max=1)
        count = int(used.sum(dim=1).amax()) if used.numel() else 0
        order = used.argsort(dim=1, descending=True, stable=True)[:, :count]
        self._own = F.pad(self._own.gather(1, order[place]), (0, more))
        for store in self._stores:
            store.tidy(order, self._own.shape[1])
        self._places, self._filled = self.groups.places, count

    def begin(self, slots: Tensor, lead: int) -> None:
        """Give new slots [M] an entry for each token of the lead, after `arrange`."""
        self.lead = torch.arange(self._filled, self._filled + lead, device=self._own.device)
        self._own[slots[:, None], self.lead] = True
        self._filled += lead
        self._next = self._next + lead

    def step(self) -> None:
        """Give every slot a new entry."""
        groups = self.groups
        self.new, self._next = self._next, self._next + groups.size
        self._own.scatter_(1, self.new[groups.rank][:, None], True)
        self._filled += groups.size
        # Rows without a slot see every entry: a softmax over nothing is not defined.
        room = self._own.shape[1]
        mask = torch.zeros(groups.places * groups.size, room, device=self._own.device)
        mask[groups.index] = mask.new_zeros(()).masked_fill(~self._own, -torch.inf)
        self.mask = mask.view(groups.places, 1, groups.size, room)
