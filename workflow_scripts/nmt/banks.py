"""The choice of the next beam; its places are divided among banks (Post & Vilar, NAACL 2018).

A bank holds the candidates that have written the same number of pieces of their constraints.
Letters of shapes: S sentences, W beam size, C candidates of a hypothesis, K = W * (C + 1) of a
sentence.
"""

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor


def contenders(totals: Tensor, beam_size: int, phrases: int) -> Tensor:
    """Return `totals`, infinite for all candidates that may not enter the next beam.

    These may: the best candidates of the whole sentence, the best one of each hypothesis, those
    that go on with a constraint (3.1), and hypotheses that have ended.

    Args:
        totals: [S * W, C + 1], the summed NLLs of the candidates of each hypothesis.
        beam_size: W.
        phrases: how many columns are for candidates that continue a constraint. They stand
            before the last column, which is for hypotheses that have ended.
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

    Every bank gets an equal share of the beam; the last bank also gets what is left over. A bank
    may have too few candidates for its share: the rest goes to the next lower banks, then to the
    highest ones. In sentences with constraints, hypotheses that have ended keep their places, and
    only the other places are divided. Otherwise they would push out open hypotheses, or worse ones
    would push them out.

    Args:
        scores: [S, K]; lower is better; infinite where there is no candidate.
        banks: [S, K], how many constraint pieces each candidate has written.
        size: [S], how many constraint pieces the sentence has: the number of its last bank.
        largest: at least the largest value of `size`.
        beam_size: at most K.
        width: the last of every `width` columns is for hypotheses that have ended.

    Returns:
        Scores and columns of the chosen candidates [S, beam size], best first. Scores are infinite
        where there were too few candidates.
    """
    if largest == 0:
        return scores.topk(beam_size, dim=1, largest=False)
    column = torch.arange(scores.shape[1], device=scores.device)
    staying = scores.isfinite() & (column % width == width - 1) & (size[:, None] > 0)
    shared = beam_size - staying.sum(dim=1)
    # Candidates that do not compete go into a bank of their own, which has no share.
    banks = banks.masked_fill(scores.isinf() | staying, largest + 1)
    counts = torch.zeros(len(scores), largest + 2, dtype=torch.int64, device=scores.device)
    counts.scatter_add_(1, banks, torch.ones_like(banks))
    quotas = _quotas(counts[:, :-1], size, shared)
    order = scores.argsort(dim=1, stable=True)
    order = order.gather(1, banks.gather(1, order).argsort(dim=1, stable=True))
    bank = banks.gather(1, order)
    rank = column - (counts.cumsum(dim=1) - counts).gather(1, bank)
    wins = rank < F.pad(quotas, (0, 1)).gather(1, bank)
    chosen = staying.scatter_reduce(1, order, wins, "amax")
    return scores.masked_fill(~chosen, torch.inf).topk(beam_size, dim=1, largest=False)


def _quotas(counts: Tensor, size: Tensor, shared: Tensor) -> Tensor:
    """Divide `shared` [S] places among banks that have `counts` [S, banks] candidates.

    `size` [S] is the last bank of a sentence. No bank gets more places than it has candidates.
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
