"""The best next tokens of every slot."""

from dataclasses import dataclass

import torch
from torch import Tensor

from workflow_scripts.nmt.checkpoint import OUTPUT_MULTIPLE
from workflow_scripts.nmt.model import Model, log_normaliser
from workflow_scripts.nmt.vocabulary import EOS

# Rows of logits that are computed at once; bounds the memory of the output layer.
OUTPUT_ROWS = 512


@dataclass
class Candidates:
    """The `count` best tokens of every slot, best first.

    `ids`: [N, count]; `log_probabilities`: [N, count] under the full softmax, all rows of the
    output layer in its sum; `asked`: [N, A], those of tokens that were asked for.
    """

    ids: Tensor
    log_probabilities: Tensor
    asked: Tensor


class OutputLayer:
    """Turns the decoder's output into candidates, in memory that is kept from step to step.

    <pad>, <unk>, <s> and the filling entries at the end of a vocabulary have their share of the
    softmax but are never candidates.
    """

    def __init__(self, model: Model):
        self._model = model
        self._buffer = torch.empty(OUTPUT_ROWS, len(model.weights.output), device=model.device)

    def best(self, hidden: Tensor, count: int, asked: Tensor | None = None) -> Candidates:
        """Return the best `count` tokens (or all there are) for the decoder's output [N, D].

        `asked` [N, A] are further tokens whose log-probabilities are wanted.
        """
        words = self._model.target_vocab.words
        if asked is None:
            asked = torch.zeros(len(hidden), 0, dtype=torch.int64, device=hidden.device)
        parts = []
        for rows, tokens in zip(hidden.split(OUTPUT_ROWS), asked.split(OUTPUT_ROWS), strict=True):
            logits = self._model.logits(rows, out=self._buffer)
            values, ids, maximum = best_tokens(logits, min(count, words - EOS), EOS, words)
            scores = logits.gather(1, tokens)
            normaliser = log_normaliser(logits, maximum)[:, None]
            parts.append((ids, values - normaliser, scores - normaliser))
        return Candidates(*(torch.cat(tensors) for tensors in zip(*parts, strict=True)))


def best_tokens(scores: Tensor, count: int, first: int, end: int) -> tuple[Tensor, Tensor, Tensor]:
    """Find the exact `count` largest values in the columns `first` to `end` - 1 of every row.

    An entry that belongs to the best `count` lies in one of the `count` blocks with the largest
    maxima (of the blocks without foreign columns; the others are searched in addition). So one
    pass over the memory and a sort of few blocks do for a partial sort of the row.

    Args:
        scores: [N, V], V a multiple of OUTPUT_MULTIPLE, the size of a block.
        count: at most `end` - `first`.
        first: a column of the first block.
        end: at most V.

    Returns:
        The values and columns [N, count], largest first, and the maximum [N] of the whole row.
    """
    size = OUTPUT_MULTIPLE
    blocks = scores.view(len(scores), -1, size)
    maxima = blocks.amax(dim=2)
    total = blocks.shape[1]
    searched = min(total, count + 1 + total - end // size)
    chosen = maxima.topk(searched, dim=1, sorted=False).indices
    inside = blocks.gather(1, chosen[:, :, None].expand(-1, -1, size)).flatten(1)
    columns = (chosen[:, :, None] * size + torch.arange(size, device=scores.device)).flatten(1)
    inside.masked_fill_((columns < first) | (columns >= end), -torch.inf)
    values, index = inside.topk(count, dim=1)
    return values, columns.gather(1, index), maxima.amax(dim=1)


def excludes(tokens: Tensor, others: Tensor) -> Tensor:
    """Return which of `tokens` [N, K] are not among the `others` [N, M] of their row."""
    return (tokens[:, :, None] != others[:, None]).all(dim=2)
