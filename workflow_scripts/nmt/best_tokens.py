"""The best next tokens of every slot."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from workflow_scripts.nmt.linear import fill_up, filled_up
from workflow_scripts.nmt.model import Model, log_normaliser
from workflow_scripts.nmt.network import OUTPUT_MULTIPLE
from workflow_scripts.nmt.shortlist import Ids
from workflow_scripts.nmt.truncation import Truncation
from workflow_scripts.nmt.vocabulary import EOS, PAD, UNK

# Logits that a CPU reads at once. It reads them several times; so few stay in its cache.
_CACHED_LOGITS = 2**18
# How many of the best tokens are looked at first, to find those that a truncation keeps.
FIRST_LOOK = 32
# Sets of a shortlist whose pieces a CPU computes at once. Sources share few pieces, so with more of
# them most of what is computed for a slot is not in its set; with fewer the products are small.
SETS_AT_ONCE = 4


def output_rows(device: torch.device) -> int:
    """Return how many rows of logits are computed at once; this bounds their memory.

    They are enough for fast products. With 512 rows of 20,000 columns on a CPU, each new number of
    rows left holes of some 8 MB in the heap.
    """
    return 128 if device.type == "cpu" else 512


def cached_rows(device: torch.device, columns: int) -> int:
    """Return how many of the rows that `output_rows` allows are looked at at once, a part of it."""
    most = output_rows(device)
    if device.type != "cpu":
        return most
    power = 1 << (max(_CACHED_LOGITS // columns, 16).bit_length() - 1)
    return min(most, power)


@dataclass
class Candidates:
    """The `count` best tokens of every slot, best first.

    `ids`: [N, count]; `log_probabilities`: [N, count] under the softmax over all rows of the output
    layer, or with a shortlist over the slot's set (minus infinity for other tokens); `asked`:
    [N, A], the log-probabilities of tokens that the caller asked for.
    """

    ids: Tensor
    log_probabilities: Tensor
    asked: Tensor


class OutputLayer:
    """Turns the decoder's output into candidates.

    <pad>, <unk>, <s> and the entries that fill up a vocabulary count in the softmax but are never
    candidates. So they are taken out of the logits before the others are looked at.

    With the model's shortlist the softmax of a slot is over the pieces of one of several sets. Each
    few sets have a layer of their own, which computes only the pieces that are in any of them.
    """

    def __init__(self, model: Model):
        output, words = model.network.output, model.target_vocab.words
        if output.bias is None:
            raise ValueError("the output layer of a network must have a bias")
        self._count = words - EOS
        self._words = output
        # Columns of no candidate that count. Those that only fill up are minus infinity already.
        counts = output.bias > -torch.inf
        counts[EOS:words] = False
        self._others = counts.nonzero()[:, 0]
        self._sets: Sets | None = None
        self._layers: list[OutputLayer] = []
        if model.shortlist is not None:
            self._all, self._in_columns = output.columns, output.in_columns()

    def restrict(self, allowed: Sequence[Ids]) -> None:
        """Set the sets that slots may have from now on, each of the ids of pieces with <unk>."""
        device = self._others.device
        # An accelerator would have to wait for the host to divide the slots.
        size = SETS_AT_ONCE if device.type == "cpu" else len(allowed)
        self._layers = []
        for first in range(0, len(allowed), size):
            layer = copy(self)
            layer._layers = []
            layer._sets = sets = Sets.of(allowed[first : first + size], self._all, device)
            layer._words = self._in_columns(sets.piece)
            # Every set has <unk>, and no other piece that is no candidate.
            layer._others = sets.column[UNK : UNK + 1]
            self._layers.append(layer)

    def _by_sets(
        self, number: Tensor, found: Callable[["OutputLayer", Tensor, int], Candidates]
    ) -> Candidates:
        """Return the candidates of rows whose sets are `number` [N].

        `found` gives those of some rows, given a layer, the rows, and the number of its first set.
        """
        if len(self._layers) == 1:
            return found(self._layers[0], torch.arange(len(number), device=number.device), 0)
        group = number // SETS_AT_ONCE
        order = [(group == index).nonzero()[:, 0] for index in range(len(self._layers))]
        parts = [
            found(layer, rows, index * SETS_AT_ONCE)
            for index, (layer, rows) in enumerate(zip(self._layers, order, strict=True))
            if len(rows)
        ]
        joined = _joined([(part.ids, part.log_probabilities) for part in parts])
        back = torch.cat(order).argsort()
        asked = torch.cat([part.asked for part in parts])
        return Candidates(*(each[back] for each in (*joined, asked)))

    def best(
        self,
        hidden: Tensor,
        count: int,
        asked: Tensor | None = None,
        number: Tensor | None = None,
    ) -> Candidates:
        """Return the best `count` tokens, or all if there are fewer, for the output [N, D].

        Args:
            hidden: [N, D].
            count: how many tokens.
            asked: [N, A], further tokens whose log-probabilities are wanted; they must be in the
                slot's set, or <pad>.
            number: [N], of the slot's set; without a shortlist it has no meaning.
        """
        if asked is None:
            asked = torch.zeros(len(hidden), 0, dtype=torch.int64, device=hidden.device)
        if self._layers:
            assert number is not None
            tokens, sets_of = asked, number
            return self._by_sets(
                number,
                lambda layer, rows, first: layer.best(
                    hidden[rows], count, tokens[rows], sets_of[rows] - first
                ),
            )
        count = min(count, self._count)
        sets = self._sets
        if sets is None:
            number = torch.zeros(len(hidden), 0, dtype=torch.int64, device=hidden.device)
        else:
            assert number is not None
            asked = sets.column[asked]
            count = min(count, len(sets.piece))
        size = output_rows(hidden.device)
        parts = [
            self._best(rows, count, tokens, numbers)
            for rows, tokens, numbers in zip(
                hidden.split(size), asked.split(size), number.split(size), strict=True
            )
        ]
        candidates = Candidates(*(torch.cat(tensors) for tensors in zip(*parts, strict=True)))
        if sets is not None:
            candidates.ids = sets.piece[candidates.ids]
        return candidates

    def kept(
        self,
        hidden: Tensor,
        slots: Tensor,
        forbidden: Tensor,
        truncation: Truncation,
        temperature: float,
        number: Tensor | None = None,
        reads: bool = True,
    ) -> Candidates:
        """Return the tokens that a truncation keeps, for the output [N, D] of some slots.

        They are found exactly: no matter how many they are, and among all tokens but the forbidden.
        Rows that have fewer than others are filled up with tokens of log-probability minus
        infinity.

        Args:
            hidden: [N, D].
            slots: [P], the slot of each row of the result; a slot may have several rows, which
                follow one another if there are more rows than slots.
            forbidden: [P, F], tokens that may not be drawn; numbers below 0 only fill up.
            truncation: without a `k`, which needs only `best`.
            temperature: divides the logits before the truncation, not the log-probabilities.
            number: [N], of the slot's set, as in `best`.
            reads: whether the host may read how many are kept. Otherwise all tokens are sorted, and
                the result has as many columns.
        """
        if self._layers:
            assert number is not None
            return self._by_sets(
                number[slots],
                lambda layer, rows, first: layer.kept(
                    hidden,
                    slots[rows],
                    forbidden[rows],
                    truncation,
                    temperature,
                    number - first,
                    reads,
                ),
            )
        sets = self._sets
        forbidden = forbidden.clamp(min=PAD)  # <pad> is never a candidate
        if sets is not None:
            forbidden = sets.column[forbidden]
        shared = len(slots) > len(hidden)
        cut = _Cut(truncation, temperature, reads)
        size = output_rows(hidden.device)
        parts: list[tuple[Tensor, Tensor]] = []
        for part, stops in zip(slots.split(size), forbidden.split(size), strict=True):
            places, place = part, torch.arange(len(part), device=part.device)
            if shared:
                places, place = part.unique_consecutive(return_inverse=True)
            numbers = None if number is None else number[places]
            parts += self._kept(hidden[places], place, stops, cut, numbers)
        ids, values = _joined(parts)
        if sets is not None:
            ids = sets.piece[ids]
        return Candidates(ids, values, hidden.new_zeros(len(slots), 0))

    def _kept(
        self,
        hidden: Tensor,
        place: Tensor,
        forbidden: Tensor,
        cut: "_Cut",
        number: Tensor | None,
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield ids and log-probabilities for some rows at a time, of at most `output_rows`."""
        logits_of = self._words.in_parts(fill_up(hidden))
        rows = cached_rows(hidden.device, self._words.columns)
        for part, stops in zip(place.split(rows), forbidden.split(rows), strict=True):
            logits = logits_of(part)
            if self._sets is not None:
                assert number is not None
                logits = logits + self._sets.mask[number[part]]
            others = logits.index_select(1, self._others).logsumexp(dim=1)
            logits.index_fill_(1, self._others, -torch.inf)
            stopped = logits.gather(1, stops).logsumexp(dim=1)
            ids, values, total = cut(logits.scatter_(1, stops, -torch.inf))
            normaliser = torch.logaddexp(torch.logaddexp(total, stopped), others)
            yield ids, values - normaliser[:, None]

    def _best(
        self, hidden: Tensor, count: int, asked: Tensor, number: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the columns of `Candidates` for at most `output_rows` slots."""
        logits_of = self._words.in_parts(fill_up(hidden))
        rows = cached_rows(hidden.device, self._words.columns)
        parts = [
            self._look_through(logits_of(part), count, asked[part], number[part])
            for part in (
                slice(first, min(first + rows, len(hidden)))
                for first in range(0, max(len(hidden), 1), rows)
            )
        ]
        ids, values, scores, normaliser = map(torch.cat, zip(*parts, strict=True))
        normaliser = normaliser[:, None]
        return ids, values - normaliser, scores - normaliser

    def _look_through(
        self, logits: Tensor, count: int, asked: Tensor, number: Tensor
    ) -> tuple[Tensor, ...]:
        """Return the best ids and their values, the values asked for, and log sum exp."""
        if self._sets is not None:
            logits.add_(self._sets.mask.index_select(0, number))
        others = logits.index_select(1, self._others)
        logits.index_fill_(1, self._others, -torch.inf)
        values, ids = blockwise_topk(logits, count)
        scores = logits.gather(1, asked)
        # They count in the sum, which is the last that the logits are needed for.
        logits.index_copy_(1, self._others, others)
        return ids, values, scores, log_normaliser(logits, logits.amax(dim=1))


def _joined(parts: Sequence[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    """Return ids and log-probabilities of all rows; those with fewer columns are filled up."""
    width = max(ids.shape[1] for ids, _ in parts)
    ids = [F.pad(ids, (0, width - ids.shape[1])) for ids, _ in parts]
    values = [F.pad(part, (0, width - part.shape[1]), value=-torch.inf) for _, part in parts]
    return torch.cat(ids), torch.cat(values)


@dataclass(frozen=True)
class _Cut:
    """A truncation at a temperature; `reads`: whether the host may read how many are kept."""

    truncation: Truncation
    temperature: float
    reads: bool

    def __call__(self, logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return what is kept of the logits [N, V].

        Returns:
            The columns and logits [N, kept], best first; a row that keeps fewer has minus infinity
            in the place of others. And log sum exp of all logits [N].
        """
        everything = logits.shape[1]
        count = min(FIRST_LOOK, everything) if self.reads else everything
        values, ids = blockwise_topk(logits, count)
        total = log_normaliser(logits.clone(), values[:, 0])
        scaled = total
        if self.temperature != 1 and self.truncation.needs_total:
            best = values[:, 0] / self.temperature
            scaled = log_normaliser(logits / self.temperature, best)
        mask, certain = self._kept(values, scaled)
        while count < everything and not certain.all():
            (rows,) = (~certain).nonzero(as_tuple=True)
            gap = min(7 * count, everything - count)
            count += gap
            more, columns = blockwise_topk(logits[rows], count)
            values = F.pad(values, (0, gap), value=-torch.inf).index_copy(0, rows, more)
            ids = F.pad(ids, (0, gap)).index_copy(0, rows, columns)
            mask, certain = self._kept(values, scaled)
        if self.reads:
            count = max(1, int(mask.sum(dim=1).amax()))
            values, ids, mask = values[:, :count], ids[:, :count], mask[:, :count]
        return ids, values.masked_fill(~mask, -torch.inf), total

    def _kept(self, values: Tensor, total: Tensor) -> tuple[Tensor, Tensor]:
        return self.truncation.kept(values.double() / self.temperature, total.double())


@dataclass
class Sets:
    """Sets of pieces, as columns of the restricted output layer.

    `piece`: [columns], <pad> at those that only fill up; `column`: [V], of each piece; `mask`:
    [sets, columns], minus infinity where a piece is not in a set.
    """

    piece: Tensor
    column: Tensor
    mask: Tensor

    @classmethod
    def of(cls, allowed: Sequence[Ids], pieces: int, device: torch.device) -> Self:
        """Return the sets of ids below `pieces`, with few different numbers of columns."""
        union = np.unique(np.concatenate([np.array([EOS]), *allowed]))
        # One column at least that is in no set.
        columns = -(-filled_up(len(union) + 1) // OUTPUT_MULTIPLE) * OUTPUT_MULTIPLE
        piece = np.full(columns, PAD)
        piece[: len(union)] = union
        column = np.full(pieces, len(union))
        column[union] = np.arange(len(union))
        mask = np.full((len(allowed), columns), -np.inf, dtype=np.float32)
        for row, ids in zip(mask, allowed, strict=True):
            row[column[ids]] = 0
        return cls(*(torch.from_numpy(array).to(device) for array in (piece, column, mask)))


def blockwise_topk(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Find the exact `count` largest values of every row and their columns, largest first.

    They lie in the `count` blocks with the largest maxima. So one pass over the memory and a search
    in few blocks are enough, and the row is not sorted.

    Args:
        scores: [N, V], V a multiple of OUTPUT_MULTIPLE, the size of a block.
        count: at most V.
    """
    rows, blocks = len(scores), scores.shape[1] // OUTPUT_MULTIPLE
    largest = scores.view(rows, blocks, OUTPUT_MULTIPLE).amax(dim=2)
    chosen = largest.topk(min(count, blocks), dim=1, sorted=False).indices
    numbers = chosen + torch.arange(0, rows * blocks, blocks, device=scores.device)[:, None]
    inside = scores.view(-1, OUTPUT_MULTIPLE).index_select(0, numbers.flatten()).view(rows, -1)
    values, index = inside.topk(count, dim=1)
    columns = chosen.gather(1, index // OUTPUT_MULTIPLE) * OUTPUT_MULTIPLE
    return values, columns + index % OUTPUT_MULTIPLE


def excludes(tokens: Tensor, others: Tensor) -> Tensor:
    """Return which of `tokens` [N, K] are not among the `others` [N, M] of their row."""
    return (tokens[:, :, None] != others[:, None]).all(dim=2)
