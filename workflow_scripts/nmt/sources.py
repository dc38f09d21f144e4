"""Source sentences while they are decoded step by step.

Each sentence has a place. The place holds its cross-attention keys and values once, for all slots
of the decoder that translate it. Letters of shapes as in `blocks`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from workflow_scripts.nmt.attention import GROWTH, grown
from workflow_scripts.nmt.linear import fill_up
from workflow_scripts.nmt.model import Memory, Model

# Sentences are encoded in batches of at most this many.
ENCODED_AT_ONCE = 64


class Sources:
    """The sentences that a decoder translates."""

    def __init__(self, model: Model):
        self._model = model
        size = model.network.sizes.size
        # Per layer [2, places, H, L, d]: keys and values.
        self._kept = [
            model.network.target.pieces.new_zeros(2, GROWTH, heads, GROWTH, size // heads)
            for heads in (layer.cross.heads for layer in model.network.decoder)
        ]
        # Unused places have one valid position of zeros, so that attention to them is defined.
        self._lengths = torch.ones(GROWTH, dtype=torch.int64, device=model.device)
        self._places: dict[tuple[int, ...], int] = {}

    def places(self, sources: Sequence[Sequence[int]], live: Collection[int]) -> list[int]:
        """Return the place of every sentence of `sources`; a sentence may occur several times.

        New sentences are encoded. They take places that are not `live`.
        """
        keys = [tuple(source) for source in sources]
        self._places = {key: place for key, place in self._places.items() if place in live}
        missing = [key for key in dict.fromkeys(keys) if key not in self._places]
        free = (place for place in range(len(live) + len(missing)) if place not in live)
        self._places.update(zip(missing, free, strict=False))
        for first in range(0, len(missing), ENCODED_AT_ONCE):
            new = missing[first : first + ENCODED_AT_ONCE]
            memory = self._model.remember(*self._model.encode(new))
            self._keep(memory, [self._places[key] for key in new])
        return [self._places[key] for key in keys]

    def readers(self, place: Tensor) -> list["SourceReader"]:
        """Return for every layer the reader of the slots whose sentences are at `place` [N]."""
        groups = _Groups(place, self._model.network.target.pieces)
        lengths = self._lengths[: groups.places]
        positions = torch.arange(int(lengths.max()), device=lengths.device)
        valid = positions < lengths[:, None, None, None]
        return [
            SourceReader(groups, kept[:, : groups.places, :, : len(positions)], valid)
            for kept in self._kept
        ]

    def _keep(self, memory: Memory, places: list[int]) -> None:
        """Put the sentences of `memory` into `places`."""
        size, width = max(places) + 1, memory.keys[0].shape[2]
        index = self._model.integers(places)
        for layer, new in enumerate(zip(memory.keys, memory.values, strict=True)):
            kept = grown(grown(self._kept[layer], 1, size), 3, width)
            for part, tensor in zip(kept, new, strict=True):
                part[index, :, :width] = tensor
            self._kept[layer] = kept
        self._lengths = grown(self._lengths, 0, size, fill=1)
        self._lengths[index] = memory.lengths


@dataclass
class SourceReader:
    """Attends to the sources of all slots, in one layer.

    `kept`: [2, places, H, L, d], keys and values; `valid`: [places, 1, 1, L], true at tokens.
    """

    groups: "_Groups"
    kept: Tensor
    valid: Tensor

    def __call__(self, query: Tensor) -> Tensor:
        """Return the contexts [R, D] of the queries [R, D] of all slots; rows below are zeros."""
        query = self.groups.gather(query, self.kept.shape[2])
        keys, values = self.kept
        context = F.scaled_dot_product_attention(
            query, keys, values, attn_mask=self.valid, scale=1.0
        )
        return fill_up(self.groups.scatter(context))


class _Groups:
    """Slots [N] arranged by place for attention: [places, G]; no place has more than G slots.

    All layers share one buffer of the device and type of `like` [..., D]. Its entries without a
    slot stay zero.
    """

    def __init__(self, place: Tensor, like: Tensor):
        counts = torch.bincount(place)
        order = torch.argsort(place, stable=True)
        rank = torch.empty_like(place)
        first = (counts.cumsum(0) - counts)[place[order]]
        rank[order] = torch.arange(len(place), device=place.device) - first
        self.places = len(counts)
        self._size = int(counts.max())
        self._index = place * self._size + rank
        self._buffer = like.new_zeros(self.places * self._size, like.shape[-1])

    def gather(self, x: Tensor, heads: int) -> Tensor:
        """Arrange the first rows of [R, D] as [places, H, G, d], valid until the next call."""
        self._buffer[self._index] = x[: len(self._index)]
        return self._buffer.view(self.places, self._size, heads, -1).transpose(1, 2)

    def scatter(self, x: Tensor) -> Tensor:
        """Take rows [N, D] back out of [places, H, G, d]."""
        return x.transpose(1, 2).reshape(self._buffer.shape)[self._index]
