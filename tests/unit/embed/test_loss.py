import pytest
import torch
from torch.nn.functional import cosine_similarity

from workflow_scripts.stages.embed.loss import hinge_loss
from workflow_scripts.stages.embed.negatives import NONE


def by_the_formula(pairs, negatives, vectors, margin):
    def cosine(one, other):
        return cosine_similarity(vectors[one], vectors[other], dim=0)

    total = 0.0
    for (first, second), (other, another) in zip(pairs, negatives, strict=True):
        for own, negative in ((first, other), (second, another)):
            if negative != NONE:
                total += max(0.0, margin - cosine(first, second) + cosine(own, negative))
    return total / len(pairs)


@pytest.mark.parametrize("margin", [0.0, 0.4, 1.0])
def test_loss_is_two_hinges_on_cosines(margin):
    torch.manual_seed(2)
    vectors = torch.randn(8, 5, dtype=torch.float64)
    pairs, negatives = [(0, 1), (2, 3), (4, 5)], [(2, 6), (7, NONE), (NONE, 0)]
    first, second = torch.tensor(pairs).T
    chosen = tuple(torch.tensor(negatives).T)
    found = hinge_loss(first, second, chosen, vectors, margin)
    assert float(found) == pytest.approx(float(by_the_formula(pairs, negatives, vectors, margin)))


def test_pairs_that_are_far_from_their_negatives_cost_nothing():
    vectors = torch.eye(3)[[0, 0, 1]].requires_grad_()
    one, two, other = (torch.tensor([n]) for n in range(3))
    loss = hinge_loss(one, two, (other, other), vectors, 0.4)
    assert loss == 0
    loss.backward()
    assert not vectors.grad.any()
