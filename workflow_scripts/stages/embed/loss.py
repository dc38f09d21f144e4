"""The loss of the papers: two hinges on cosines (Wieting et al. 2017, 4.2; ParaBank 2, 3.7)."""

from torch import Tensor
from torch.nn import functional

from workflow_scripts.stages.embed.negatives import NONE


def hinge_loss(
    first: Tensor, second: Tensor, negatives: tuple[Tensor, Tensor], vectors: Tensor, margin: float
) -> Tensor:
    """Return the mean over pairs of max(0, m - cos(s, t) + cos(s, s')) and the same of t and t'.

    Args:
        first: index of one sentence of each pair, shape (pairs,).
        second: index of the other.
        negatives: those of s' and t', shape (pairs,); -1 where there is none: no hinge.
        vectors: of the sentences, shape (sentences, size).
        margin: m.
    """
    vectors = functional.normalize(vectors, dim=1)
    positive = (vectors[first] * vectors[second]).sum(1)
    total = positive.new_zeros(len(positive))
    for own, negative in zip((first, second), negatives, strict=True):
        similarity = (vectors[own] * vectors[negative]).sum(1)
        total = total + (margin - positive + similarity).relu() * (negative != NONE)
    return total.mean()
