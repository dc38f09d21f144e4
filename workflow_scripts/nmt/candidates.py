"""The best next tokens of every slot."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from workflow_scripts.nmt.linear import Linear, fill_up
from workflow_scripts.nmt.model import Model, log_normaliser
from workflow_scripts.nmt.network import OUTPUT_MULTIPLE
from workflow_scripts.nmt.vocabulary import EOS

# Rows of logits that a CPU reads at once. It reads them several times; so few stay in its cache.
CACHED_ROWS = 16


def output_rows(device: torch.device) -> int:
    """Return how many rows of logits are computed at once; this bounds their memory.

    They are enough for fast products. With 512 rows of 20,000 columns on a CPU, each new number of
    rows left holes of some 8 MB in the heap.
    """
    return 128 if device.type == "cpu" else 512


@dataclass
class Candidates:
    """The `count` best tokens of every slot, best first.

    `ids`: [N, count]; `log_probabilities`: [N, count] under the full softmax, over all rows of the
    output layer; `asked`: [N, A], the log-probabilities of tokens that the caller asked for.
    """

    ids: Tensor
    log_probabilities: Tensor
    asked: Tensor


class OutputLayer:
    """Turns the decoder's output into candidates.

    <pad>, <unk>, <s> and the entries that fill up a vocabulary count in the softmax but are never
    candidates. So they are computed apart, and are minus infinity among the others.
    """

    def __init__(self, model: Model):
        output, words = model.network.output, model.target_vocab.words
        if output.bias is None:
            raise ValueError("the output layer of a network must have a bias")
        self._count = words - EOS
        others = torch.ones_like(output.bias, dtype=torch.bool)
        others[EOS:words] = False
        self._words = Linear(output.weight, output.bias.masked_fill(others, -torch.inf))
        self._other_weight, self._other_bias = output.plain()[others], output.bias[others]

    def best(self, hidden: Tensor, count: int, asked: Tensor | None = None) -> Candidates:
        """Return the best `count` tokens, or all if there are fewer, for the output [N, D].

        `asked` [N, A] are further tokens whose log-probabilities are wanted.
        """
        count = min(count, self._count)
        if asked is None:
            asked = torch.zeros(len(hidden), 0, dtype=torch.int64, device=hidden.device)
        size = output_rows(hidden.device)
        parts = [
            self._best(rows, count, tokens)
            for rows, tokens in zip(hidden.split(size), asked.split(size), strict=True)
        ]
        return Candidates(*(torch.cat(tensors) for tensors in zip(*parts, strict=True)))

    def _best(self, hidden: Tensor, count: int, asked: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the columns of `Candidates` for at most `output_rows` slots."""
        out = self._words(fill_up(hidden))[: len(hidden)]
        rows = CACHED_ROWS if hidden.device.type == "cpu" else len(hidden)
        parts = [
            self._look_through(logits.float(), count, tokens)
            for logits, tokens in zip(out.split(rows), asked.split(rows), strict=True)
        ]
        ids, values, scores, normaliser = map(torch.cat, zip(*parts, strict=True))
        others = F.linear(hidden, self._other_weight, self._other_bias).float()
        normaliser = torch.logaddexp(normaliser, others.logsumexp(dim=1))[:, None]
        return ids, values - normaliser, scores - normaliser

    @staticmethod
    def _look_through(logits: Tensor, count: int, asked: Tensor) -> tuple[Tensor, ...]:
        """Return the best ids and their values, the values asked for, and log sum exp."""
        values, ids = blockwise_topk(logits, count)
        scores = logits.gather(1, asked)
        return ids, values, scores, log_normaliser(logits, values[:, 0])


def blockwise_topk(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Find the exact `count` largest values of every row and their columns, largest first.

    They lie in the `count` blocks with the largest maxima. So one pass over the memory and a search
    in few blocks are enough, and the row is not sorted.

    Args:
        scores: [N, V], V a multiple of OUTPUT_MULTIPLE, the size of a block.
        count: at most V.
    """
    blocks = scores.view(len(scores), -1, OUTPUT_MULTIPLE)
    number = min(count, blocks.shape[1])
    chosen = blocks.amax(dim=2).topk(number, dim=1, sorted=False).indices
    inside = blocks.gather(1, chosen[:, :, None].expand(-1, -1, OUTPUT_MULTIPLE)).flatten(1)
    values, index = inside.topk(count, dim=1)
    columns = chosen.gather(1, index // OUTPUT_MULTIPLE) * OUTPUT_MULTIPLE
    return values, columns + index % OUTPUT_MULTIPLE


def excludes(tokens: Tensor, others: Tensor) -> Tensor:
    """Return which of `tokens` [N, K] are not among the `others` [N, M] of their row."""
    return (tokens[:, :, None] != others[:, None]).all(dim=2)
