import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.nmt.candidates import OutputLayer, blockwise_topk
from workflow_scripts.nmt.model import Model


@settings(deadline=None)
@given(
    seed=st.integers(0, 10**6),
    blocks=st.integers(1, 6),
    count=st.integers(1, 70),
    levels=st.sampled_from([3, 10**6]),
)
def test_blockwise_topk_is_that_of_a_full_sort(seed: int, blocks: int, count: int, levels: int):
    torch.manual_seed(seed)
    scores = torch.randint(levels, (3, blocks * 64)).float()
    scores[1, 7:] = -torch.inf
    count = min(count, blocks * 64)
    values, ids = blockwise_topk(scores, count)
    assert torch.equal(values, scores.topk(count, dim=1).values)
    assert torch.equal(scores.gather(1, ids), values)
    assert all(len(set(row)) == count for row in ids.tolist())


def test_log_probabilities_are_of_the_full_softmax(tiny: Model):
    hidden = torch.randn(5, tiny.network.sizes.size)
    asked = torch.tensor([[3, 5]] * 5)
    best = OutputLayer(tiny).best(hidden, 100, asked)
    assert best.ids.shape == (5, 21)
    assert best.ids.min() == 3
    expected = tiny.logits(hidden).log_softmax(dim=1)
    assert torch.allclose(best.log_probabilities, expected.gather(1, best.ids), atol=1e-5)
    assert torch.allclose(best.asked, expected.gather(1, asked), atol=1e-5)
