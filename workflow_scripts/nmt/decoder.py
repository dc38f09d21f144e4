"""Step-by-step decoding of many output prefixes at once.

A slot holds one prefix of one sentence. Hypotheses with equal prefixes share a slot. The layers of
the network decide what a slot keeps about its prefix. Letters of shapes as in `blocks`.
"""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from workflow_scripts.nmt.attention import roomy
from workflow_scripts.nmt.blocks import Moment, PrefixBlock, PrefixState
from workflow_scripts.nmt.lineage import Lineage
from workflow_scripts.nmt.linear import fill_up
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.sources import SourceReader, Sources


class Decoder:
    """Up to `capacity` slots, of which 0..N-1 are in use, and the sentences they decode.

    `position`, `place`: [N], how many tokens each slot has read, the lead included, and its
    sentence's place.

    The first step after a change of the slots reads numbers from the device and fixes all shapes.
    The next `stride - 1` steps have the same shapes and read nothing.
    """

    def __init__(self, model: Model, capacity: int, stride: int = 1):
        self.model = model
        self.capacity = capacity
        self._stride = stride
        self._lead = len(model.marks.lead)
        # In tokens: the most that a slot has read, until when the shapes hold, and the room.
        self._read = self._until = self._room = 0
        self._readers: list[SourceReader] | None = None
        self.position = torch.zeros(0, dtype=torch.int64, device=model.device)
        self.place = self.position
        self._states = [
            self._state(layer.prefix, model.kept(0, model.network.sizes.size))
            for layer in model.network.decoder
        ]
        self._sources = Sources(model)

    def _state(self, block: PrefixBlock, like: Tensor) -> PrefixState:
        """Return the state of a layer's block."""
        return block.state(self.capacity, like)

    def __len__(self) -> int:
        return len(self.position)

    def places(self, sources: Sequence[Sequence[int]]) -> list[int]:
        """Return the place of every sentence of `sources`; a sentence may occur several times.

        New sentences are encoded. They take the places of sentences that no slot decodes any more.
        """
        self._readers = None
        return self._sources.places(sources, set(self.place.tolist()))

    def start(self, places: Tensor) -> Tensor:
        """Open a slot with an empty prefix for each of `places` [M]; return the slots [M]."""
        first = len(self)
        if first + len(places) > self.capacity:
            raise ValueError(f"{len(places)} new slots, {self.capacity - first} are free")
        self._readers = None
        self.position = torch.cat([self.position, torch.full_like(places, self._lead)])
        self._read = max(self._read, self._lead)
        self.place = torch.cat([self.place, places])
        return torch.arange(first, len(self), device=places.device)

    def branch(self, parents: Tensor) -> Tensor:
        """Replace all slots by children, one for each of `parents` [M], M <= capacity.

        The first child of a slot stays in it if it can. The other children are copied into slots
        that are free.

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
        self._readers = None
        self._read = int(self.position.max()) if count else 0
        return slots

    def follow(self, parents: Tensor) -> None:
        """Let every slot go on, after a step, from one of `parents` [N] of the same sentence.

        Unlike `branch` this leaves all shapes as they are and reads nothing from the device.
        """
        self.position = self.position[parents]
        for state in self._states:
            state.follow(parents)

    def step(self, tokens: Tensor) -> Tensor:
        """Let every slot read one token of `tokens` [N]; return the decoder's output [N, D]."""
        network = self.model.network
        readers = self._readers
        if readers is None or self._read == self._until:
            readers = self._arrange()
            if self._lead:
                self._begin((self.position == self._lead).nonzero()[:, 0])
        moment = self._moment()
        # Between the attentions there are more rows than slots.
        x = fill_up(network.target.at(tokens, self.position))
        for layer, state, reader in zip(network.decoder, self._states, readers, strict=True):
            x = layer(x, partial(state.step, moment=moment), reader)
        self.position = self.position + 1
        self._read += 1
        return network.decoded(x[: len(self)])

    def _moment(self) -> Moment:
        """Return what the layers may know of the slots in this step."""
        return Moment.of(self.position, self._room)

    def _arrange(self) -> list[SourceReader]:
        """Fix the shapes of the next steps, make room for them, and return their readers."""
        self._until = self._read + self._stride
        self._room = roomy(self._until)
        for state in self._states:
            state.grow(self._room)
        if self._readers is None:
            self._readers = self._sources.readers(self.place)
        return self._readers

    def _begin(self, slots: Tensor) -> None:
        """Let slots [M], which have not made a step, have read the lead."""
        places = self.place[slots]
        for state, lead in zip(self._states, self._sources.leads(places), strict=True):
            state.begin(slots, places, lead)

    def _copy(self, sources: Tensor, targets: Tensor) -> None:
        if not len(sources):
            return
        read = int(self.position[sources].max())
        for state in self._states:
            state.copy(sources, targets, read)


class BeamDecoder(Decoder):
    """A decoder whose slots, if they belong to one sentence, share the keys and values of prefixes.

    It is for few slots of a sentence, which go on from each other in every step: nothing is copied
    then, but each slot looks at the entries of all of them.
    """

    def __init__(self, model: Model, capacity: int, stride: int = 1):
        self._lineage = Lineage(model.device)
        super().__init__(model, capacity, stride)

    def places(self, sources: Sequence[Sequence[int]]) -> list[int]:
        """Return a new place for every sentence of `sources`, even if two are the same.

        Otherwise the slots of each would look at the entries of both.
        """
        self._readers = None
        return self._sources.add(sources, set(self.place.tolist()))

    def _state(self, block: PrefixBlock, like: Tensor) -> PrefixState:
        return block.shared(self._lineage, self.capacity, like)

    def start(self, places: Tensor) -> Tensor:
        """See `Decoder.start`."""
        slots = super().start(places)
        self._lineage.start(len(places))
        return slots

    def branch(self, parents: Tensor) -> Tensor:
        """See `Decoder.branch`; the children have the order of `parents`."""
        place = self.place[parents]
        if not torch.equal(place, self.place):
            self._readers = None
        self.position, self.place = self.position[parents], place
        self._lineage.follow(parents)
        for state in self._states:
            state.follow(parents)
        self._read = int(self.position.max()) if len(parents) else 0
        return torch.arange(len(parents), device=parents.device)

    def follow(self, parents: Tensor) -> None:
        """See `Decoder.follow`."""
        super().follow(parents)
        self._lineage.follow(parents)

    def _moment(self) -> Moment:
        self._lineage.step()
        return super()._moment()

    def _arrange(self) -> list[SourceReader]:
        readers = super()._arrange()
        self._lineage.arrange(readers[0].groups, self.place, self._stride, self._lead)
        return readers

    def _begin(self, slots: Tensor) -> None:
        self._lineage.begin(slots, self._lead)
        super()._begin(slots)
