"""The best next tokens of every slot."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from workflow_scripts.nmt.linear import Linear, fill_up, filled_up
from workflow_scripts.nmt.model import Model, log_normaliser
from workflow_scripts.nmt.network import OUTPUT_MULTIPLE
from workflow_scripts.nmt.shortlist import Ids
from workflow_scripts.nmt.vocabulary import EOS, PAD, UNK

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
    candidates. So they are computed apart, and are minus infinity among the others.

    With the model's shortlist the softmax of a slot is over the pieces of one of several sets. Only
    the pieces that are in any of them are computed.
    """

    def __init__(self, model: Model):
        output, words = model.network.output, model.target_vocab.words
        if output.bias is None:
            raise ValueError("the output layer of a network must have a bias")
        self._count = words - EOS
        others = torch.ones_like(output.bias, dtype=torch.bool)
        others[EOS:words] = False
        bias = output.bias.masked_fill(others, -torch.inf)
        self._words = Linear(output.weight, bias)
        weight = output.plain()
        self._sets: _Sets | None = None
        if model.shortlist is not None:
            self._all = Linear(weight, bias)
            # Every set has <unk>, and no other piece that is no candidate.
            others = torch.zeros_like(others).index_fill_(0, model.integers([UNK]), True)
        self._other_weight, self._other_bias = weight[others], output.bias[others]

    def restrict(self, allowed: Sequence[Ids]) -> None:
        """Set the sets that slots may have from now on, each of the ids of pieces with <unk>."""
        self._words, self._sets = _restricted(self._all, allowed)

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
        count = min(count, self._count)
        if asked is None:
            asked = torch.zeros(len(hidden), 0, dtype=torch.int64, device=hidden.device)
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
        found = Candidates(*(torch.cat(tensors) for tensors in zip(*parts, strict=True)))
        if sets is not None:
            found.ids = sets.piece[found.ids]
        return found

    def _best(
        self, hidden: Tensor, count: int, asked: Tensor, number: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the columns of `Candidates` for at most `output_rows` slots."""
        out = self._words(fill_up(hidden))[: len(hidden)]
        rows = CACHED_ROWS if hidden.device.type == "cpu" else len(hidden)
        parts = [
            self._look_through(logits.float(), count, tokens, numbers)
            for logits, tokens, numbers in zip(
                out.split(rows), asked.split(rows), number.split(rows), strict=True
            )
        ]
        ids, values, scores, normaliser = map(torch.cat, zip(*parts, strict=True))
        others = F.linear(hidden, self._other_weight, self._other_bias).float()
        normaliser = torch.logaddexp(normaliser, others.logsumexp(dim=1))[:, None]
        return ids, values - normaliser, scores - normaliser

    def _look_through(
        self, logits: Tensor, count: int, asked: Tensor, number: Tensor
    ) -> tuple[Tensor, ...]:
        """Return the best ids and their values, the values asked for, and log sum exp."""
        if self._sets is not None:
            logits = logits + self._sets.mask[number]
        values, ids = blockwise_topk(logits, count)
        scores = logits.gather(1, asked)
        return ids, values, scores, log_normaliser(logits, values[:, 0])


@dataclass
class _Sets:
    """Sets of pieces, as columns of the restricted output layer.

    `piece`: [columns], <pad> at those that only fill up; `column`: [V], of each piece; `mask`:
    [sets, columns], minus infinity where a piece is not in a set.
    """

    piece: Tensor
    column: Tensor
    mask: Tensor


def _restricted(output: Linear, allowed: Sequence[Ids]) -> tuple[Linear, _Sets]:
    """Return the output layer of the pieces that some set has, given the plain one of all pieces.

    There are few numbers of columns, as for rows.
    """
    weight, bias = output.weight, output.bias
    assert bias is not None
    union = np.unique(np.concatenate([np.array([EOS]), *allowed]))
    # One column at least that is in no set.
    columns = -(-filled_up(len(union) + 1) // OUTPUT_MULTIPLE) * OUTPUT_MULTIPLE
    piece = np.full(columns, PAD)
    piece[: len(union)] = union
    column = np.full(len(bias), len(union))
    column[union] = np.arange(len(union))
    mask = np.full((len(allowed), columns), -np.inf, dtype=np.float32)
    for row, ids in zip(mask, allowed, strict=True):
        row[column[ids]] = 0
    tensors = (torch.from_numpy(array).to(weight.device) for array in (piece, column, mask))
    sets = _Sets(*tensors)
    words = Linear(weight[sets.piece], bias[sets.piece])
    return words.to(weight.device, weight.dtype), sets


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
