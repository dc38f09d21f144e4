import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.nmt.candidates import OutputLayer, best_tokens
from workflow_scripts.nmt.model import Model


@settings(deadline=None)
@given(
    seed=st.integers(0, 10**6),
    blocks=st.integers(1, 6),
    first=st.integers(0, 63),
    filling=st.integers(0, 80),
    count=st.integers(1, 70),
    levels=st.sampled_from([3, 10**6]),
)
def test_best_tokens_are_those_of_a_full_sort(seed, blocks, first, filling, count, levels):
    torch.manual_seed(seed)
    end = max(first + 1, blocks * 64 - filling)
    scores = torch.randint(levels, (3, blocks * 64)).float()
    count = min(count, end - first)
    values, ids, maximum = best_tokens(scores, count, first, end)
    assert torch.equal(values, scores[:, first:end].topk(count, dim=1).values)
    assert torch.equal(scores.gather(1, ids), values)
    assert all(len(set(row)) == count for row in ids.tolist())
    assert ids.min() >= first
    assert ids.max() < end
    assert torch.equal(maximum, scores.amax(dim=1))


def test_log_probabilities_are_of_the_full_softmax(tiny: Model):
    hidden = torch.randn(5, tiny.config.size)
    best = OutputLayer(tiny).best(hidden, 100)
    assert best.ids.shape == (5, 21)
    assert best.ids.min() == 3
    expected = tiny.logits(hidden).log_softmax(dim=1).gather(1, best.ids)
    assert torch.allclose(best.log_probabilities, expected, atol=1e-5)
