"""A network with its vocabularies: encoding, and decoding of given targets.

Letters of shapes as in `blocks`.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from workflow_scripts.nmt.attention import attend_whole
from workflow_scripts.nmt.blocks import Grid, SharedGrid
from workflow_scripts.nmt.linear import fill_up, filled_up
from workflow_scripts.nmt.network import Network
from workflow_scripts.nmt.precision import FP32, Precision
from workflow_scripts.nmt.prefixes import Integers, Places, Prefixes
from workflow_scripts.nmt.shortlist import Ids, Shortlist
from workflow_scripts.nmt.vocabulary import BOS, EOS, PAD, Vocabulary

_LOG2_OF_E = math.log2(math.e)


@dataclass
class Memory:
    """What the decoder reads of its source sentences, for each layer of the decoder.

    `keys`, `values`: [S, H, L, d] each; `lengths`: [S] counts valid source positions.
    """

    keys: list[Tensor]
    values: list[Tensor]
    lengths: Tensor

    def select(self, index: Tensor) -> "Memory":
        """Return the memory of the sentences at `index`; a sentence may occur several times."""
        return Memory(
            [keys[index] for keys in self.keys],
            [values[index] for values in self.values],
            self.lengths[index],
        )


class Model:
    """A translation model on one device.

    Args:
        network: on the device, in `precision`.
        source_vocab: pieces of its source side.
        target_vocab: pieces of its target side.
        source_spm: the SentencePiece model that its folder has for the source side.
        target_spm: that for the target side.
        shortlist: restricts what the searches may generate, and `divergence` where it is asked to.
        precision: that of the network.
        prefix: text that stands in front of every source of raw text.
    """

    def __init__(
        self,
        network: Network,
        source_vocab: Vocabulary,
        target_vocab: Vocabulary,
        *,
        source_spm: Path | None = None,
        target_spm: Path | None = None,
        shortlist: Shortlist | None = None,
        precision: Precision = FP32,
        prefix: str = "",
    ):
        self.network = network
        self.source_vocab = source_vocab
        self.target_vocab = target_vocab
        self.marks = network.marks
        self.source_spm = source_spm
        self.target_spm = target_spm
        self.shortlist = shortlist
        self.prefix = prefix
        self.device = network.target.pieces.device
        self.precision = precision
        self.dtype = precision.dtype

    def source_ids(self, pieces: Iterable[str]) -> list[int]:
        """Return the ids of a source of these pieces, behind what stands first in every source.

        A source without pieces stays empty.
        """
        ids = self.source_vocab.ids(pieces)
        return [self.marks.first, *ids] if self.marks.first is not None and ids else ids

    @property
    def max_source_pieces(self) -> int:
        """How many pieces a source sentence may have (its first mark counts, its end does not)."""
        return self.network.sizes.max_source - len(self.marks.end)

    @property
    def max_target_pieces(self) -> int:
        """How many pieces a target may have to be scored (its lead and <s> not counted)."""
        return self.network.sizes.max_target - len(self.marks.lead) - 1

    def can_read(self, source: Sequence[int]) -> bool:
        """Return whether a source of piece ids is not empty and not too long for the model."""
        return 0 < len(source) <= self.max_source_pieces

    def max_output_length(self, source_pieces: int) -> int:
        """Return how many tokens, </s> included, an output may have."""
        sizes = self.network.sizes
        longest = math.ceil(sizes.longest_output * (source_pieces + 1))
        return longest if sizes.most_output is None else min(longest, sizes.most_output)

    def allowed(self, source: Sequence[int], wanted: Iterable[Sequence[int]] = ()) -> Ids | None:
        """Return the pieces that outputs of a source may hold, None without a shortlist.

        Pieces of `wanted` phrases are always allowed.
        """
        if self.shortlist is None:
            return None
        pieces = {piece for phrase in wanted for piece in phrase} - {PAD, BOS}
        return np.union1d(self.shortlist.allowed(source), np.array(list(pieces), dtype=np.int64))

    def encode(self, sources: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Encode sentences of piece ids (without their end).

        Returns:
            The encoder's output [S, L, D] and the lengths [S] with the end. Positions beyond a
            sentence's length hold numbers without meaning.
        """
        end = self.marks.end
        tokens = self._padded([[*source, *end] for source in sources])
        lengths = self.integers([len(source) + len(end) for source in sources])
        grid = Grid(*tokens.shape)
        mask = _valid(lengths, grid.width)[:, None, None]
        x = fill_up(self.network.source.whole(tokens).flatten(0, 1))
        for layer in self.network.encoder:
            x = layer(x, grid, mask)
        encoded = self.network.encoded(x[: tokens.numel()])
        return encoded.view(grid.count, grid.width, -1), lengths

    def remember(self, encoded: Tensor, lengths: Tensor) -> Memory:
        """Project the encoder's output [S, L, D] to the keys and values of all decoder layers."""
        rows, grid = fill_up(encoded.flatten(0, 1)), Grid(*encoded.shape[:2])
        pairs = [layer.cross.remember(rows, grid) for layer in self.network.decoder]
        return Memory([keys for keys, _ in pairs], [values for _, values in pairs], lengths)

    def decode(self, targets: list[list[int]], memory: Memory) -> Tensor:
        """Teacher-forced decoding of B targets of piece ids, one for each sentence of `memory`.

        Returns:
            The decoder's output [tokens, D] before every piece and </s>, target after target.
        """
        lead = self.marks.lead
        tokens = self._padded([[*lead, BOS, *target] for target in targets])
        grid = Grid(*tokens.shape)
        # Not a mask: to count it, the host would have to wait for an accelerator.
        wanted = [
            row * grid.width + len(lead) + position
            for row, target in enumerate(targets)
            for position in range(len(target) + 1)
        ]
        x = fill_up(self.network.target.whole(tokens).flatten(0, 1))
        return self._decoded(x, grid, grid, memory)[self.integers(wanted)]

    def decode_prefixes(self, prefixes: Prefixes, memory: Memory) -> Tensor:
        """Teacher-forced decoding of distinct prefixes of targets of the sentences of `memory`.

        Returns:
            The decoder's output [P, D] after every prefix that a token of a target follows.
        """
        places, sources = prefixes.queries()
        if len(sources) > len(memory.lengths):
            memory = memory.select(self.integers(sources))
        tokens, positions = self.integers(prefixes.tokens), self.integers(prefixes.positions)
        x = fill_up(self.network.target.at(tokens, positions))
        targets, queries = self._grid(prefixes.targets), self._grid(places)
        hidden = self._decoded(x, targets, queries, memory)[: len(tokens)]
        return hidden[self.integers(prefixes.followed)] if prefixes.lead else hidden

    def lead(self, memory: Memory) -> list[Tensor]:
        """Return what each layer keeps of the lead, for the sentences of `memory`: [S, ...]."""
        tokens = self.integers([self.marks.lead] * len(memory.lengths))
        grid = Grid(*tokens.shape)
        x = fill_up(self.network.target.whole(tokens).flatten(0, 1))
        kept = []
        for layer, attend in zip(self.network.decoder, _attending(memory, grid), strict=True):
            kept.append(layer.prefix.remember(x, grid))
            x = layer(x, partial(layer.prefix.forced, grid=grid), attend)
        return kept

    def _decoded(self, x: Tensor, targets: Grid, queries: Grid, memory: Memory) -> Tensor:
        """Return the decoder's output [R, D] for embeddings [R, D].

        Self-attention goes through the grid `targets`. `queries` has a sequence for each sentence
        of `memory`, which attends to it.
        """
        for layer, attend in zip(self.network.decoder, _attending(memory, queries), strict=True):
            x = layer(x, partial(layer.prefix.forced, grid=targets), attend)
        return self.network.decoded(x)

    def _grid(self, places: Places) -> Grid:
        """Return the grid whose rows are the prefixes at these places."""
        count, width = places.prefix.shape
        prefixes = len(places.first)
        if prefixes == count * width:
            # Each stands in one place, in their order: nothing has to be moved.
            return Grid(count, width)
        first = np.pad(places.first, (0, filled_up(prefixes) - prefixes))
        row = self.integers(places.prefix.ravel())
        return SharedGrid(count, width, row, self.integers(first))

    def labels(self, targets: list[list[int]]) -> Tensor:
        """Return the ids [tokens] that `decode` has to predict: each target, then its </s>."""
        return self.integers([token for target in targets for token in (*target, EOS)])

    def integers(self, values: Sequence[int] | Sequence[Sequence[int]] | Integers) -> Tensor:
        """Return integers as a tensor on the device, without waiting for what it computes."""
        return torch.tensor(values, dtype=torch.int64).to(self.device, non_blocking=True)

    def kept(self, *shape: int) -> Tensor:
        """Return zeros for what is kept of the prefixes and sources, in its precision."""
        return self.network.target.pieces.new_zeros(shape, dtype=self.precision.kept)

    def _padded(self, sequences: list[list[int]]) -> Tensor:
        """Return ids [S, L] filled up with <pad>."""
        width = max(map(len, sequences))
        return self.integers([sequence + [PAD] * (width - len(sequence)) for sequence in sequences])


def log_normaliser(logits: Tensor, maximum: Tensor) -> Tensor:
    """Return log sum exp of every row of `logits` [N, V], given its maximum [N].

    The logits are overwritten, as at this size access to memory takes most of the time. On a CPU
    torch computes powers of 2 three times as fast as those of e.
    """
    powers = logits.sub_(maximum[:, None]).mul_(_LOG2_OF_E).exp2_()
    return powers.sum(dim=1).log_().add_(maximum)


def _attending(memory: Memory, queries: Grid) -> list[Callable[[Tensor], Tensor]]:
    """Return for each layer how the positions of `queries` attend to their sentences."""
    mask = _valid(memory.lengths, memory.keys[0].shape[2])[:, None, None]
    return [
        partial(attend_whole, keys, values, mask, queries)
        for keys, values in zip(memory.keys, memory.values, strict=True)
    ]


def _valid(lengths: Tensor, width: int) -> Tensor:
    """Return the mask [S, width] that is true below the lengths [S]."""
    return torch.arange(width, device=lengths.device) < lengths[:, None]
