"""The next beam out of its candidates, shared out among banks (Post & Vilar, NAACL 2018).

A bank holds the candidates that have written equally many pieces of their constraints. Letters of
shapes: S sentences, W beam size, C candidates of a hypothesis, K = W * (C + 1) of a sentence.
"""

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor


def contenders(totals: Tensor, beam_size: int, phrases: int) -> Tensor:
    """Leave those candidates that contend for the beam, and make the others infinite.

    They are the best ones of the whole sentence, the best one of each hypothesis, and those
    that go on with a constraint (3.1), besides what has ended.

    Args:
        totals: [S * W, C + 1], the summed NLLs of the candidates of each hypothesis.
        beam_size: W.
        phrases: the number of the columns of candidates that go on with a constraint; they stand
            before the last column, which is for what has ended.
    """
    sentences = totals.view(-1, beam_size * totals.shape[1])
    leading = sentences.topk(beam_size, dim=1, largest=False).indices
    contends = torch.zeros_like(sentences, dtype=torch.bool).scatter_(1, leading, True)
    contends = contends.view_as(totals).scatter(1, totals.argmin(dim=1, keepdim=True), True)
    contends[:, -phrases - 1 :] = True
    return totals.masked_fill(~contends, torch.inf)


def allocate(
    scores: Tensor, banks: Tensor, size: Tensor, largest: int, beam_size: int, width: int
) -> tuple[Tensor, Tensor]:
    """Choose the next beam of every sentence from its candidates (Post & Vilar 2018, 3.2).

    Every bank gets an equal share of the beam, the last one what is left over. Shares that a
    bank has too few candidates for go to the next lower banks, then to the highest ones. In
    sentences with constraints, hypotheses that have ended keep their part of the beam, and only
    the rest is shared out: they would crowd out what is open, or be crowded out by worse.

    Args:
        scores: [S, K], the lower the better, infinite where there is no candidate.
        banks: [S, K], how many constraint pieces each candidate has written.
        size: [S], constraint pieces of the sentence, the number of its last bank.
        largest: at least the largest of these.
        beam_size: at most K.
        width: the last of every `width` columns is for hypotheses that have ended.

    Returns:
        Scores and columns of the chosen candidates [S, beam size], best first; infinite scores
        where there were too few.
    """
    if largest == 0:
        return scores.topk(beam_size, dim=1, largest=False)
    column = torch.arange(scores.shape[1], device=scores.device)
    kept = scores.isfinite() & (column % width == width - 1) & (size[:, None] > 0)
    shared = beam_size - kept.sum(dim=1)
    # Candidates that do not compete go into a bank of their own, which has no share.
    banks = banks.masked_fill(scores.isinf() | kept, largest + 1)
    counts = torch.zeros(len(scores), largest + 2, dtype=torch.int64, device=scores.device)
    counts.scatter_add_(1, banks, torch.ones_like(banks))
    quotas = _quotas(counts[:, :-1], size, shared)
    order = scores.argsort(dim=1, stable=True)
    order = order.gather(1, banks.gather(1, order).argsort(dim=1, stable=True))
    bank = banks.gather(1, order)
    rank = column - (counts.cumsum(dim=1) - counts).gather(1, bank)
    wins = rank < F.pad(quotas, (0, 1)).gather(1, bank)
    chosen = kept.scatter_reduce(1, order, wins, "amax")
    return scores.masked_fill(~chosen, torch.inf).topk(beam_size, dim=1, largest=False)


def _quotas(counts: Tensor, size: Tensor, shared: Tensor) -> Tensor:
    """Share out `shared` [S] places to banks of `counts` [S, banks] candidates each.

    `size` [S] is the last bank of a sentence; quotas are at most the counts.
    """
    bank = torch.arange(counts.shape[1], device=counts.device)
    quotas = torch.where(bank <= size[:, None], (shared // (size + 1))[:, None], 0)
    quotas.scatter_add_(1, size[:, None], (shared - quotas.sum(dim=1))[:, None])
    surplus = torch.zeros_like(shared)
    taken = torch.zeros_like(counts)
    for wanted in (quotas, torch.zeros_like(quotas)):
        for number in reversed(range(counts.shape[1])):
            surplus = surplus + wanted[:, number]
            more = torch.minimum(surplus, counts[:, number] - taken[:, number])
            taken[:, number] += more
            surplus = surplus - more
    return taken
