"""Step-by-step decoding of many output prefixes at once.

A slot holds the self-attention keys and values of one prefix of one sentence; hypotheses that
still agree share a slot. Sentences live in places, which hold the cross-attention keys and
values once for all slots of the sentence. Letters of shapes as in `model`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from workflow_scripts.nmt.linear import fill_up
from workflow_scripts.nmt.model import Memory, Model

# Places, and positions of sources and targets, are allocated in steps of this many.
GROWTH = 16
# Sentences are encoded in batches of at most this many.
ENCODED_AT_ONCE = 64


class Decoder:
    """Up to `capacity` slots, of which 0..N-1 are in use, and the sentences they decode.

    `position`, `place`: [N], how many tokens each slot has read, and its sentence's place.

    The first step after slots have changed reads their numbers from the device and fixes all
    shapes; the next `stride - 1` steps have the same shapes and read nothing.
    """

    def __init__(self, model: Model, capacity: int, stride: int = 1):
        self.model = model
        self.capacity = capacity
        self._stride = stride
        # No slot has read more tokens than this.
        self._read = 0
        self._layout: _Layout | None = None
        self.position = torch.zeros(0, dtype=torch.int64, device=model.device)
        self.place = self.position
        heads, layers = model.config.decoder_heads, model.config.decoder_layers
        depth = model.config.size // heads
        # Per layer [2, capacity, H, T, d]: keys and values of the tokens read. A CPU has no fast
        # product of one query in bf16: there they are kept in fp32.
        kind = torch.float32 if model.device.type == "cpu" else model.dtype
        self._cache = [
            self._empty(2, capacity, heads, GROWTH, depth).to(kind) for _ in range(layers)
        ]
        # Per layer [2, places, H, L, d]: keys and values of the sources.
        self._memory = [self._empty(2, GROWTH, heads, GROWTH, depth) for _ in range(layers)]
        # Unused places have one valid position of zeros, so that attention to them is defined.
        self._lengths = torch.ones(GROWTH, dtype=torch.int64, device=model.device)
        self._places: dict[tuple[int, ...], int] = {}

    def __len__(self) -> int:
        return len(self.position)

    def places(self, sources: Sequence[Sequence[int]]) -> list[int]:
        """Return the place of every sentence of `sources`, which may repeat.

        Sentences that are not there yet are encoded. They take the places of those that no slot
        decodes any more.
        """
        keys = [tuple(source) for source in sources]
        live = set(self.place.tolist())
        self._places = {key: place for key, place in self._places.items() if place in live}
        missing = [key for key in dict.fromkeys(keys) if key not in self._places]
        free = (place for place in range(len(live) + len(missing)) if place not in live)
        self._places.update(zip(missing, free, strict=False))
        for first in range(0, len(missing), ENCODED_AT_ONCE):
            new = missing[first : first + ENCODED_AT_ONCE]
            memory = self.model.remember(*self.model.encode(new))
            self._store(memory, [self._places[key] for key in new])
        return [self._places[key] for key in keys]

    def start(self, places: Tensor) -> Tensor:
        """Open a slot for each of `places` [M], with nothing read; returns the slots [M]."""
        first = len(self)
        if first + len(places) > self.capacity:
            raise ValueError(f"{len(places)} new slots, {self.capacity - first} are free")
        self._layout = None
        self.position = torch.cat([self.position, torch.zeros_like(places)])
        self.place = torch.cat([self.place, places])
        return torch.arange(first, len(self), device=places.device)

    def branch(self, parents: Tensor) -> Tensor:
        """Replace all slots by children, one for each of `parents` [M], M <= capacity.

        The first child of a slot takes it over where it stands; only the others are copied,
        into slots without children, and the last slots into the holes that remain.

        Returns:
            The slots [M] of the children, a permutation of 0..M-1.
        """
        count = len(parents)
        order = torch.argsort(parents, stable=True)
        sorted_parents = parents[order]
        first = torch.ones_like(parents, dtype=torch.bool)
        first[order[1:]] = sorted_parents[1:] != sorted_parents[:-1]
        stays = first & (parents < count)
        vacant = torch.ones_like(stays)
        vacant[parents[stays]] = False
        slots = parents.clone()
        moved, targets = (~stays).nonzero()[:, 0], vacant.nonzero()[:, 0]
        slots[moved] = targets
        self._copy(parents[moved], targets)
        position, place = self.position[parents], self.place[parents]
        self.position, self.place = torch.empty_like(position), torch.empty_like(place)
        self.position[slots], self.place[slots] = position, place
        self._layout = None
        self._read = int(self.position.max()) if count else 0
        return slots

    def follow(self, parents: Tensor) -> None:
        """Let every slot go on, after a step, from that of `parents` [N] of the same sentence.

        Unlike `branch` this leaves all shapes as they are and reads nothing from the device.
        """
        self.position = self.position[parents]
        for cache in self._cache:
            read = cache[:, : len(parents), :, : self._layout.width]
            read.copy_(read[:, parents])

    def step(self, tokens: Tensor) -> Tensor:
        """Let every slot read one token of `tokens` [N]; returns the decoder's output [N, D]."""
        model, weights = self.model, self.model.weights
        heads, count = model.config.decoder_heads, len(self)
        if self._layout is None or self._read == self._layout.width:
            self._layout = self._arrange()
        width, groups, valid = self._layout.width, self._layout.groups, self._layout.valid
        slots = torch.arange(count, device=model.device)
        unread = torch.arange(width, device=model.device) > self.position[:, None]
        # Beyond the positions of the training data the last one repeats, as in Sockeye.
        position = self.position.clamp(max=model.config.max_target - 1)
        x = weights.target_embedding[tokens] + weights.target_positions[position]
        # Between the attentions there are more rows than slots.
        x = fill_up(x)
        for layer, cache, memory in zip(weights.decoder, self._cache, self._memory, strict=True):
            projected = layer.attention.inward(layer.attention.norm(x))[:count]
            projected = projected.unflatten(1, (3, heads, -1)).to(cache.dtype)
            cache[:, slots, :, self.position] = projected[:, 1:]
            context = _attend(projected[:, 0], *cache[:, :count, :, :width], unread).to(x.dtype)
            x = layer.attention.out.added(fill_up(context), x)

            query = groups.gather(layer.cross.query(layer.cross.norm(x))[:count], heads)
            context = F.scaled_dot_product_attention(
                query,
                *memory[:, : groups.places, :, : valid.shape[3]],
                attn_mask=valid,
                scale=1.0,
            )
            x = layer.cross.out.added(fill_up(groups.scatter(context)), x)
            x = layer.feed_forward(x)
        self.position = self.position + 1
        self._read += 1
        return weights.decoder_norm(x[:count])

    def _arrange(self) -> "_Layout":
        """Return the shapes of the next steps, for which there is room in the caches then."""
        width = self._read + self._stride
        self._cache = [_grown(cache, 3, width) for cache in self._cache]
        groups = _Groups(self.place, self.model.weights.target_embedding)
        lengths = self._lengths[: groups.places]
        valid = torch.arange(int(lengths.max()), device=lengths.device)
        return _Layout(width, groups, valid < lengths[:, None, None, None])

    def _store(self, memory: Memory, places: list[int]) -> None:
        """Put the sentences of `memory` into `places`."""
        size, width = max(places) + 1, memory.keys[0].shape[2]
        index = self.model.integers(places)
        for layer, new in enumerate(zip(memory.keys, memory.values, strict=True)):
            stored = _grown(_grown(self._memory[layer], 1, size), 3, width)
            for part, tensor in zip(stored, new, strict=True):
                part[index, :, :width] = tensor
            self._memory[layer] = stored
        self._lengths = _grown(self._lengths, 0, size, fill=1)
        self._lengths[index] = memory.lengths

    def _copy(self, sources: Tensor, targets: Tensor) -> None:
        if not len(sources):
            return
        width = int(self.position[sources].max())
        for cache in self._cache:
            for read in cache[:, :, :, :width]:
                read.index_copy_(0, targets, read.index_select(0, sources))

    def _empty(self, *shape: int) -> Tensor:
        return torch.zeros(shape, device=self.model.device, dtype=self.model.dtype)


@dataclass
class _Layout:
    """What a step must know of the slots besides their positions.

    `width`: how many positions of the caches it reads; `groups`: for cross-attention; `valid`:
    [places, 1, 1, L], the positions of the sources.
    """

    width: int
    groups: "_Groups"
    valid: Tensor


class _Groups:
    """Slots [N] arranged by place for attention: [places, G], G the most slots of a place.

    All layers share one buffer in the kind of `like` [..., D]: what is beyond the slots of a
    place stays zero.
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
        """Arrange rows [N, D] as [places, H, G, d], valid until the next call."""
        self._buffer[self._index] = x
        return self._buffer.view(self.places, self._size, heads, -1).transpose(1, 2)

    def scatter(self, x: Tensor) -> Tensor:
        """Take rows [N, D] back out of [places, H, G, d]."""
        return x.transpose(1, 2).reshape(self._buffer.shape)[self._index]


def _attend(query: Tensor, keys: Tensor, values: Tensor, masked: Tensor) -> Tensor:
    """Return the attention of one query per slot.

    Args:
        query: [N, H, d], scaled.
        keys: [N, H, T, d], a view into the cache.
        values: like `keys`.
        masked: [N, T], true where a slot has no token.

    Returns:
        The context [N, D].
    """
    count, heads, depth = query.shape
    # One batched product over slots and heads: on a CPU a third faster than torch's attention.
    weights = torch.bmm(query.reshape(-1, 1, depth), keys.flatten(0, 1).transpose(1, 2))
    weights = weights.view(count, heads, -1).masked_fill_(masked[:, None], -torch.inf)
    weights = weights.softmax(dim=2).view(count * heads, 1, -1)
    return torch.bmm(weights, values.flatten(0, 1)).view(count, -1)


def _grown(tensor: Tensor, dim: int, size: int, fill: int = 0) -> Tensor:
    """Return `tensor` with at least `size` entries along `dim`, the new ones filled."""
    if tensor.shape[dim] >= size:
        return tensor
    shape = list(tensor.shape)
    shape[dim] = -(-size // GROWTH) * GROWTH
    grown = tensor.new_full(shape, fill)
    grown.narrow(dim, 0, tensor.shape[dim]).copy_(tensor)
    return grown
