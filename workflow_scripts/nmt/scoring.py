"""Scoring of given translations by forced decoding."""

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from workflow_scripts.nmt.candidates import CACHED_ROWS, output_rows
from workflow_scripts.nmt.linear import fill_up
from workflow_scripts.nmt.model import Model, log_normaliser

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
    return (found.mean for found in forced(model, pairs, batch_tokens=batch_tokens))


@torch.inference_mode()
def forced(model: Model, pairs: Iterable[Pair], *, batch_tokens: int = 4096) -> Iterator[Forced]:
    """Yield the NLLs of every (source, target) pair of piece ids, in the order of the input.

    Args:
        model: scores targets given sources.
        pairs: piece ids without </s>; read in buffers, so that memory stays bounded.
        batch_tokens: how many padded positions of the longer side one batch may have.
    """
    buffer: list[Pair] = []
    buffered = 0
    for pair in pairs:
        buffer.append(pair)
        buffered += _width(pair)
        if buffered >= BUFFER_BATCHES * batch_tokens:
            yield from _score_buffer(model, buffer, batch_tokens)
            buffer, buffered = [], 0
    yield from _score_buffer(model, buffer, batch_tokens)


def _score_buffer(model: Model, pairs: list[Pair], batch_tokens: int) -> list[Forced]:
    scores = [_UNREADABLE] * len(pairs)
    readable = (
        index
        for index, (source, target) in enumerate(pairs)
        if model.can_read(source) and 0 < len(target) <= model.max_target_pieces
    )
    # Equal sources become neighbours among equal lengths, so that a batch encodes them once.
    order = sorted(
        readable, key=lambda index: (_width(pairs[index]), len(pairs[index][1]), pairs[index][0])
    )
    for batch in _batches(order, pairs, batch_tokens):
        found = _score_batch(model, [pairs[index] for index in batch])
        for index, (mean, worst) in zip(batch, found, strict=True):
            scores[index] = Forced(mean, worst, mean * (len(pairs[index][1]) + 1))
    return scores


def _width(pair: Pair) -> int:
    """Return the number of positions of the longer side with its </s>."""
    return max(map(len, pair)) + 1


def _batches(order: list[int], pairs: list[Pair], batch_tokens: int) -> Iterator[list[int]]:
    """Cut indices, sorted by width, into batches of at most `batch_tokens` padded positions."""
    batch: list[int] = []
    for index in order:
        if batch and (len(batch) + 1) * _width(pairs[index]) > batch_tokens:
            yield batch
            batch = []
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
    places: dict[tuple[int, ...], int] = {}
    index = [places.setdefault(tuple(source), len(places)) for source, _ in pairs]
    memory = model.remember(*model.encode([list(source) for source in places]))
    if len(places) < len(pairs):
        memory = memory.select(model.integers(index))
    targets = [target for _, target in pairs]
    losses = _token_losses(model, model.decode(targets, memory), model.labels(targets))
    lengths = [len(target) + 1 for target in targets]
    row = model.integers([row for row, length in enumerate(lengths) for _ in range(length)])
    losses = losses.double()
    zeros = torch.zeros(len(targets), dtype=torch.float64, device=model.device)
    means = zeros.index_add(0, row, losses) / model.integers(lengths)
    return torch.stack([means, zeros.scatter_reduce(0, row, losses, "amax")], dim=1)


def _token_losses(model: Model, hidden: Tensor, labels: Tensor) -> Tensor:
    """Return -log p of every label [tokens] given the decoder's output [tokens, D]."""
    losses = []
    most = output_rows(hidden.device)
    for rows, ids in zip(hidden.split(most), labels.split(most), strict=True):
        size = CACHED_ROWS if hidden.device.type == "cpu" else most
        found = model.logits(fill_up(rows))[: len(rows)]
        for part, wanted in zip(found.split(size), ids.split(size), strict=True):
            logits = part.float()
            chosen = logits.gather(1, wanted[:, None])[:, 0]
            losses.append(log_normaliser(logits, logits.amax(dim=1)) - chosen)
    return torch.cat(losses)
