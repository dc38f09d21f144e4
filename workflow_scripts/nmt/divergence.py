"""How differently a model continues one target given several sources, by forced decoding.

Where two sentences mean the same, a model translates both alike: its distributions over the next
token are near each other at every place of a translation, not only at the token that stands there.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from workflow_scripts.nmt.best_tokens import Sets, output_rows
from workflow_scripts.nmt.linear import Columns, fill_up
from workflow_scripts.nmt.model import Model, log_normaliser
from workflow_scripts.nmt.prefixes import Prefixes
from workflow_scripts.nmt.scoring import require_positions
from workflow_scripts.nmt.shortlist import Ids, Shortlist
from workflow_scripts.nmt.vocabulary import EOS

# Tokens of a distribution that are told apart; the rest, some thousandths, count as one.
_TOKENS = 64
_LEAST = 1e-12


class Group(NamedTuple):
    """A target, and the sources that it is decoded from, all of piece ids without </s>."""

    target: list[int]
    first: list[int]
    others: list[list[int]]


class Compared(NamedTuple):
    """What a target is given a source, and how far that is from what it is given the first one.

    Attributes:
        nll: nats per token of the target, </s> included, as `scoring.score` has it.
        lost: nats of the whole target that it has less probability than given the first source;
            below 0 if it has more.
        divergence: the greatest sum p log(p / q) in nats (Kullback and Leibler, 1951) over the
            places of the target: p is the distribution given the first source, q that given this.
    """

    nll: float
    lost: float
    divergence: float


# What is told where the model can't read a side.
UNREADABLE = Compared(math.inf, math.inf, math.inf)


@torch.inference_mode()
def compared(
    model: Model, groups: Sequence[Group], *, batch_tokens: int = 4096, shortlist: bool = False
) -> list[list[Compared]]:
    """Return for each group what its target is given each of the other sources.

    Args:
        model: decodes targets given sources.
        groups: all are held in memory.
        batch_tokens: how many padded positions one batch may have, unless a single pair has more.
        shortlist: whether distributions are over the pieces that the model's shortlist, if it has
            one, allows the first source, and of another source also over its own; and over those
            of the target. They depend on no other text, and no piece of the first one's is
            impossible given the other.

    Returns:
        A list for each group. All numbers are infinite where the model can't read the other source
        or write the target; where the first source alone can't be read, only the NLL is a number.

    Raises:
        InputError: `batch_tokens` is below 1.
    """
    require_positions(batch_tokens)
    answers = [[UNREADABLE] * len(group.others) for group in groups]
    columns = model.network.output.in_columns() if shortlist and model.shortlist else None
    batch: list[_Part] = []
    width = 0
    for part in sorted(_parts(model, groups, batch_tokens), key=lambda part: part.width):
        width = max(width, part.width)
        if batch and sum(each.sequences for each in [*batch, part]) * width > batch_tokens:
            _answer(model, batch, answers, columns)
            batch, width = [], part.width
        batch.append(part)
    if batch:
        _answer(model, batch, answers, columns)
    return answers


def compared_texts(
    model: Model,
    texts: Sequence[tuple[str, str, str]],
    read: Callable[[str], list[int]],
    write: Callable[[str], list[int]],
    batch_tokens: int = 4096,
    shortlist: bool = False,
) -> list[Compared]:
    """Return what each target is given another source than its first one.

    Args:
        model: decodes targets given sources.
        texts: the first source, the target and the other source of each; all are held in memory.
        read: gives the piece ids of a source, without </s>.
        write: gives those of a target.
        batch_tokens: see `compared`.
        shortlist: see `compared`.
    """
    places: dict[tuple[str, str], list[int]] = {}
    for place, (first, target, _) in enumerate(texts):
        places.setdefault((first, target), []).append(place)
    groups = [
        Group(write(target), read(first), [read(texts[place][2]) for place in listed])
        for (first, target), listed in places.items()
    ]
    found = dict(
        zip(
            chain.from_iterable(places.values()),
            chain.from_iterable(
                compared(model, groups, batch_tokens=batch_tokens, shortlist=shortlist)
            ),
            strict=True,
        )
    )
    return [found[place] for place in range(len(texts))]


class _Part(NamedTuple):
    """As much of a group as fits into a batch: the number of the group, and places of others.

    Where its first source can't be read, another stands in for it, and nothing is compared.
    """

    number: int
    group: Group
    places: list[int]
    width: int
    compares: bool

    @property
    def sequences(self) -> int:
        return 1 + len(self.places)

    @property
    def sources(self) -> list[list[int]]:
        return [self.group.others[place] for place in self.places]


def _parts(model: Model, groups: Sequence[Group], batch_tokens: int) -> Iterator[_Part]:
    for number, group in enumerate(groups):
        places = [place for place, other in enumerate(group.others) if model.can_read(other)]
        if not (places and 0 < len(group.target) <= model.max_target_pieces):
            continue
        if not (compares := model.can_read(group.first)):
            group = group._replace(first=group.others[places[0]])
        longest = max(map(len, (group.target, group.first, *(group.others[at] for at in places))))
        size = max(batch_tokens // (longest + 1) - 1, 1)
        for start in range(0, len(places), size):
            yield _Part(number, group, places[start : start + size], longest + 1, compares)


def _answer(
    model: Model,
    batch: Sequence[_Part],
    answers: list[list[Compared]],
    columns: Columns | None,
) -> None:
    """Put down the answers of a batch, or of its halves if the device is out of memory."""
    try:
        numbers = _numbers(model, batch, columns)
    except torch.OutOfMemoryError:
        if sum(len(part.places) for part in batch) == 1:
            raise
    else:
        for part in batch:
            for place, found in zip(part.places, numbers, strict=False):
                answers[part.number][place] = (
                    found if part.compares else UNREADABLE._replace(nll=found.nll)
                )
        return
    if len(batch) == 1:
        [part] = batch
        batch = [part._replace(places=[place]) for place in part.places]
    half = len(batch) // 2
    for smaller in (batch[:half], batch[half:]):
        _answer(model, smaller, answers, columns)


def _numbers(model: Model, batch: Sequence[_Part], columns: Columns | None) -> Iterator[Compared]:
    """Decode all targets of a batch, and return what they are given the other sources.

    `columns` gives the output layer of the pieces of a shortlist; None: all pieces count.
    """
    firsts = [part.group.first for part in batch]
    sources = [*firsts, *(source for part in batch for source in part.sources)]
    of_part = [*range(len(batch)), *(n for n, part in enumerate(batch) for _ in part.places)]
    targets = [batch[number].group.target for number in of_part]
    memory = model.remember(*model.encode(sources))
    # No source is shared, so these are target after target.
    prefixes = Prefixes.of(targets, range(len(sources)), model.marks.lead)
    hidden = model.decode_prefixes(prefixes, memory)
    lengths = np.array([len(target) + 1 for target in targets])
    starts = np.cumsum(lengths) - lengths
    sequence = np.repeat(np.arange(len(targets)), lengths)
    # The row of the same place of the target, given the first source.
    first = np.arange(len(sequence)) - np.repeat(starts - starts[of_part], lengths)
    tokens = [token for target in targets for token in (*target, EOS)]
    first_row, sequence_of = model.integers(first), model.integers(sequence)
    layer, token, mask = model.network.output, model.integers(tokens), None
    if columns is not None:
        assert model.shortlist is not None
        sets = Sets.of(_allowed(model.shortlist, batch), layer.columns, model.device)
        layer, token, mask = columns(sets.piece), sets.column[token], sets.mask

    def logits_of(rows: slice) -> Tensor:
        block = hidden[rows]
        logits = layer.in_parts(fill_up(block))(slice(0, len(block)))
        return logits if mask is None else logits.add_(mask[sequence_of[rows]])

    best = min(_TOKENS, layer.columns)
    log_p, best_log_p = _looked_up(logits_of, best, token, first_row, int(starts[len(batch)]))
    divergences = _divergences(best_log_p[first_row], best_log_p)
    zeros = torch.zeros(len(targets), dtype=torch.float64, device=hidden.device)
    totals = zeros.index_add(0, sequence_of, log_p)
    greatest = zeros.scatter_reduce(0, sequence_of, divergences, "amax")
    lost = totals[model.integers(of_part)] - totals
    numbers = torch.stack([-totals / model.integers(lengths), lost, greatest], dim=1).tolist()
    return (Compared(*each) for each in numbers[len(batch) :])


def _allowed(shortlist: Shortlist, batch: Sequence[_Part]) -> list[Ids]:
    """Return the pieces that count for each sequence of a batch, see `compared`."""
    firsts, others = [], []
    for part in batch:
        target = np.array(part.group.target)
        first = np.union1d(shortlist.allowed(part.group.first), target)
        shared = first if part.compares else target
        firsts.append(first)
        others += [np.union1d(shortlist.allowed(source), shared) for source in part.sources]
    return firsts + others


def _looked_up(
    logits_of: Callable[[slice], Tensor], most: int, tokens: Tensor, first: Tensor, count: int
) -> tuple[Tensor, Tensor]:
    """Return log p of each row's token [R], and of the best tokens of its first row [R, K].

    Args:
        logits_of: gives those of rows in fp32; the first `count` rows are first rows.
        most: K.
        tokens: the column of what follows each row, [R].
        first: the number of the row whose best tokens are looked up, [R].
        count: how many first rows there are.
    """
    best = first.new_zeros(0, most)
    of_tokens, of_best, size = [], [], output_rows(tokens.device)
    for start in range(0, len(tokens), size):
        rows = slice(start, start + size)
        logits = logits_of(rows)
        if start < count:
            best = torch.cat([best, logits[: count - start].topk(most).indices])
        chosen = logits.gather(1, torch.cat([tokens[rows, None], best[first[rows]]], dim=1))
        # The logits are lost where their sum is made.
        chosen = (chosen - log_normaliser(logits, logits.amax(dim=1))[:, None]).double()
        of_tokens.append(chosen[:, 0])
        of_best.append(chosen[:, 1:])
    return torch.cat(of_tokens), torch.cat(of_best)


def _divergences(first: Tensor, others: Tensor) -> Tensor:
    """Return how far each row of others [R, K] is from the same row of first; all are log p."""
    p, q = first.exp(), others.exp()
    rest_p, rest_q = ((1 - each.sum(dim=-1)).clamp_min(_LEAST) for each in (p, q))
    # Entries that fill up a vocabulary have no probability in either.
    told = torch.where(p > 0, p * (first - others), 0.0).sum(dim=-1)
    return told + rest_p * (rest_p / rest_q).log()
