"""Scoring of given translations by forced decoding."""

import math
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.best_tokens import cached_rows, output_rows
from workflow_scripts.nmt.linear import fill_up
from workflow_scripts.nmt.model import Model, log_normaliser
from workflow_scripts.nmt.prefixes import Labels, Prefixes

# A buffer holds this many batches; inside it pairs are sorted by length.
BUFFER_BATCHES = 64

Pair = tuple[list[int], list[int]]


class Forced(NamedTuple):
    """The NLLs of one target's tokens, </s> included, in nats.

    All are infinite for a pair with an empty side, or with a side longer than the model was trained
    for: no score of such a pair could be compared with others.
    """

    mean: float
    worst: float
    total: float


_UNREADABLE = Forced(math.inf, math.inf, math.inf)


def score(model: Model, pairs: Iterable[Pair], *, batch_tokens: int = 4096) -> Iterator[float]:
    """Yield the NLL of every (source, target) pair of piece ids, in the order of the input.

    The NLL is in nats per target token, </s> included, as `sockeye-score` gives it; see `forced`.
    """
    return (pair_score.mean for pair_score in forced(model, pairs, batch_tokens=batch_tokens))


@torch.inference_mode()
def forced(model: Model, pairs: Iterable[Pair], *, batch_tokens: int = 4096) -> Iterator[Forced]:
    """Yield the NLLs of every (source, target) pair of piece ids, in the order of the input.

    Args:
        model: scores targets given sources.
        pairs: piece ids without </s>; read in buffers, so that memory stays bounded.
        batch_tokens: how many padded positions of the longer side one batch may have.

    Raises:
        InputError: `batch_tokens` is below 1.
    """
    require_positions(batch_tokens)
    buffer: list[Pair] = []
    buffered = 0
    for pair in pairs:
        buffer.append(pair)
        buffered += _width(pair)
        if buffered >= BUFFER_BATCHES * batch_tokens:
            yield from _score_buffer(model, buffer, batch_tokens)
            buffer, buffered = [], 0
    yield from _score_buffer(model, buffer, batch_tokens)


def require_positions(batch_tokens: int) -> None:
    """Refuse batches that hold nothing.

    Raises:
        InputError: `batch_tokens` is below 1.
    """
    if batch_tokens < 1:
        raise InputError(f"{batch_tokens} positions per batch: must be above zero")


def _score_buffer(model: Model, pairs: list[Pair], batch_tokens: int) -> list[Forced]:
    scores = [_UNREADABLE] * len(pairs)
    readable = (
        index
        for index, (source, target) in enumerate(pairs)
        if model.can_read(source) and 0 < len(target) <= model.max_target_pieces
    )
    for batch in _batches(_sorted(readable, pairs), pairs, batch_tokens):
        answers = _score_batch(model, [pairs[index] for index in batch])
        for index, (mean, worst) in zip(batch, answers, strict=True):
            scores[index] = Forced(mean, worst, mean * (len(pairs[index][1]) + 1))
    return scores


def _sorted(indices: Iterable[int], pairs: list[Pair]) -> Iterable[int]:
    """Sort indices so that batches have little to compute twice, and little padding.

    The targets of a source become neighbours, and among them those that begin alike. Sources are
    sorted by length, then by the length of their longest target.
    """
    by_text = sorted(indices, key=pairs.__getitem__)
    groups = [list(group) for _, group in groupby(by_text, key=lambda index: pairs[index][0])]
    groups.sort(
        key=lambda group: (len(pairs[group[0]][0]), max(len(pairs[index][1]) for index in group))
    )
    return chain.from_iterable(groups)


def _width(pair: Pair) -> int:
    """Return the number of positions of the longer side with its </s>."""
    return max(map(len, pair)) + 1


def _batches(order: Iterable[int], pairs: list[Pair], batch_tokens: int) -> Iterator[list[int]]:
    """Cut indices into batches of at most `batch_tokens` padded positions."""
    batch: list[int] = []
    width = 0
    for index in order:
        width = max(width, _width(pairs[index]))
        if batch and (len(batch) + 1) * width > batch_tokens:
            yield batch
            batch, width = [], _width(pairs[index])
        batch.append(index)
    if batch:
        yield batch


def _score_batch(model: Model, pairs: list[Pair]) -> list[list[float]]:
    """Score pairs in one batch, or in halves if the device is out of memory."""
    try:
        return _score_at_once(model, pairs).tolist()
    except torch.OutOfMemoryError:
        if len(pairs) == 1:
            raise
    half = len(pairs) // 2
    return _score_batch(model, pairs[:half]) + _score_batch(model, pairs[half:])


def _score_at_once(model: Model, pairs: list[Pair]) -> Tensor:
    """Return the mean and the greatest NLL [B, 2] of pairs, without waiting for an accelerator."""
    groups = [(source, len(list(group))) for source, group in groupby(map(itemgetter(0), pairs))]
    memory = model.remember(*model.encode([source for source, _ in groups]))
    targets = [target for _, target in pairs]
    sources = [number for number, (_, count) in enumerate(groups) for _ in range(count)]
    prefixes = Prefixes.of(targets, sources, model.marks.lead)
    labels = prefixes.labels(targets)
    losses = _token_losses(model, model.decode_prefixes(prefixes, memory), labels).double()
    target = model.integers(labels.target)
    zeros = torch.zeros(len(targets), dtype=torch.float64, device=model.device)
    totals = zeros.index_add(0, target, losses)
    means = totals / model.integers([len(target) + 1 for target in targets])
    return torch.stack([means, zeros.scatter_reduce(0, target, losses, "amax")], dim=1)


def _token_losses(model: Model, hidden: Tensor, labels: Labels) -> Tensor:
    """Return -log p of every label [tokens] given the decoder's output [P, D]."""
    normalisers, chosen = [], []
    most = output_rows(hidden.device)
    size = cached_rows(hidden.device, model.network.output.columns)
    prefix, token = model.integers(labels.prefix), model.integers(labels.token)
    ends = np.searchsorted(labels.prefix, np.arange(0, len(hidden) + size, size)).tolist()
    for block in range(0, len(hidden), most):
        rows = hidden[block : block + most]
        logits_of = model.network.output.in_parts(fill_up(rows))
        for first in range(0, len(rows), size):
            logits = logits_of(slice(first, min(first + size, len(rows))))
            part = (block + first) // size
            labelled = slice(ends[part], ends[part + 1])
            # The logits are lost where their sum is made.
            chosen.append(logits[prefix[labelled] - (block + first), token[labelled]])
            normalisers.append(log_normaliser(logits, logits.amax(dim=1)))
    return torch.cat(normalisers)[prefix] - torch.cat(chosen)
