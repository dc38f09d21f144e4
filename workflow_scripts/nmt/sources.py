"""Source sentences while they are decoded step by step.

Each sentence has a place. The place holds its cross-attention keys and values once, for all slots
of the decoder that translate it. Letters of shapes as in `blocks`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor

from workflow_scripts.nmt.attention import GROWTH, attend_in_groups, resized, roomy
from workflow_scripts.nmt.model import Memory, Model
from workflow_scripts.nmt.slot_groups import Groups

# Sentences are encoded in batches of at most this many.
ENCODED_AT_ONCE = 64


class Sources:
    """The sentences that a decoder translates."""

    def __init__(self, model: Model):
        self._model = model
        size = model.network.sizes.size
        # Per layer [2, places, H, L, d]: keys and values.
        self._kept = [
            model.kept(2, GROWTH, heads, GROWTH, size // heads)
            for heads in (layer.cross.heads for layer in model.network.decoder)
        ]
        # Unused places have one valid position of zeros, so that attention to them is defined.
        self._lengths = torch.ones(GROWTH, dtype=torch.int64, device=model.device)
        # Per layer [places, ...], what its state keeps of the lead.
        self._leads: list[Tensor] = []
        self._places: dict[tuple[int, ...], int] = {}

    def places(self, sources: Sequence[Sequence[int]], live: Collection[int]) -> list[int]:
        """Return the place of every sentence of `sources`; a sentence may occur several times.

        New sentences are encoded. They take places that are not `live`.
        """
        keys = [tuple(source) for source in sources]
        self._places = {key: place for key, place in self._places.items() if place in live}
        missing = [key for key in dict.fromkeys(keys) if key not in self._places]
        self._places.update(zip(missing, self.add(missing, live), strict=True))
        return [self._places[key] for key in keys]

    def add(self, sources: Sequence[Sequence[int]], live: Collection[int]) -> list[int]:
        """Encode sentences, and return a place for each, none of which is `live`."""
        free = (place for place in range(len(live) + len(sources)) if place not in live)
        places = list(islice(free, len(sources)))
        for first in range(0, len(sources), ENCODED_AT_ONCE):
            part = slice(first, first + ENCODED_AT_ONCE)
            memory = self._model.remember(*self._model.encode(sources[part]))
            self._keep(memory, places[part])
        return places

    def readers(self, place: Tensor) -> list["SourceReader"]:
        """Return for every layer the reader of the slots whose sentences are at `place` [N]."""
        groups = Groups(place)
        lengths = self._lengths[: groups.places]
        room = roomy(int(lengths.max()))
        self._kept = [resized(buffer, 3, room) for buffer in self._kept]
        positions = torch.arange(room, device=lengths.device)
        mask = torch.zeros(groups.places, 1, 1, len(positions), device=lengths.device)
        mask = mask.masked_fill_(positions >= lengths[:, None, None, None], -torch.inf)
        return [SourceReader(groups, buffer[:, : groups.places], mask) for buffer in self._kept]

    def leads(self, places: Tensor) -> list[Tensor]:
        """Return for every layer what its state keeps of the lead at `places` [M]: [M, ...]."""
        return [lead[places] for lead in self._leads]

    def _keep(self, memory: Memory, places: list[int]) -> None:
        """Put the sentences of `memory` into `places`."""
        size = max(len(self._lengths), roomy(max(places) + 1))
        width = memory.keys[0].shape[2]
        index = self._model.integers(places)
        for layer, new in enumerate(zip(memory.keys, memory.values, strict=True)):
            buffer = resized(self._kept[layer], 1, size)
            buffer = resized(buffer, 3, max(buffer.shape[3], roomy(width)))
            for part, tensor in zip(buffer, new, strict=True):
                part[index, :, :width] = tensor.to(part.dtype)
            self._kept[layer] = buffer
        self._lengths = resized(self._lengths, 0, size, fill=1)
        self._lengths[index] = memory.lengths
        if self._model.marks.lead:
            leads = self._model.lead(memory)
            old = self._leads or [lead[:0] for lead in leads]
            self._leads = [resized(buffer, 0, size) for buffer in old]
            for buffer, lead in zip(self._leads, leads, strict=True):
                buffer[index] = lead


@dataclass
class SourceReader:
    """Attends to the sources of all slots, in one layer.

    `kept`: [2, places, H, L, d], keys and values; `mask`: [places, 1, 1, L], minus infinity behind
    a source's last token.
    """

    groups: Groups
    kept: Tensor
    mask: Tensor

    def __call__(self, query: Tensor) -> Tensor:
        """Return the contexts [R, D] of the queries [R, D] of all slots."""
        keys, values = self.kept
        arranged = self.groups.gather(query.to(keys.dtype), keys.shape[1])
        context = attend_in_groups(arranged, keys, values, self.mask)
        return self.groups.scatter(context).to(query.dtype)
