from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.nmt import best_tokens, int8
from workflow_scripts.nmt.best_tokens import OutputLayer, blockwise_topk
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.truncation import Truncation


@pytest.mark.slow
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


@pytest.mark.parametrize("precision", ["fp32", "int8"])
@torch.inference_mode()
def test_log_probabilities_are_of_the_full_softmax(tiny_folder: Path, precision: str):
    if precision == "int8" and not int8.can_compute():
        pytest.skip("this torch has no products of 8-bit numbers")
    tiny = load_model(tiny_folder, "cpu", precision)
    hidden = torch.randn(5, tiny.network.sizes.size)
    asked = torch.tensor([[3, 5]] * 5)
    best = OutputLayer(tiny).best(hidden, 100, asked)
    assert best.ids.shape == (5, 21)
    assert best.ids.min() == 3
    expected = tiny.network.output(hidden).log_softmax(dim=1)
    assert torch.allclose(best.log_probabilities, expected.gather(1, best.ids), atol=1e-5)
    assert torch.allclose(best.asked, expected.gather(1, asked), atol=1e-5)
    few = OutputLayer(tiny).best(hidden, 3)
    assert torch.equal(few.ids, expected[:, 3:].topk(3, dim=1).indices + 3)


@pytest.mark.parametrize("look", [1, 2, 32])
@pytest.mark.parametrize("temperature", [1.0, 1.6])
@pytest.mark.parametrize("cut", [{"top_p": 0.8}, {"min_p": 0.1}, {"epsilon": 0.03}])
def test_what_is_kept_is_exact_however_few_tokens_are_looked_at_first(
    tiny: Model, monkeypatch: pytest.MonkeyPatch, look: int, temperature: float, cut: dict
):
    monkeypatch.setattr(best_tokens, "FIRST_LOOK", look)
    torch.manual_seed(3)
    hidden = torch.randn(40, tiny.network.sizes.size)
    slots = torch.arange(60) * 2 // 3  # two rows of every other slot
    forbidden = torch.stack([torch.randperm(24)[:5] for _ in range(60)])
    forbidden[::3, 2:] = -1
    logits = tiny.network.output(hidden)[slots].double()
    full = logits.log_softmax(dim=1)
    logits[:, :3] = -torch.inf
    for row, stops in zip(logits, forbidden.tolist(), strict=True):
        row[[stop for stop in stops if stop >= 0]] = -torch.inf
    ranked = (logits / temperature).sort(dim=1, descending=True)
    mask, _ = Truncation(**cut).kept(ranked.values, ranked.values.logsumexp(dim=1))
    expected = [
        dict(zip(ids[some].tolist(), scores[ids[some]].tolist(), strict=True))
        for ids, some, scores in zip(ranked.indices, mask, full, strict=True)
    ]
    for reads in (True, False):
        found = OutputLayer(tiny).kept(
            hidden, slots, forbidden, Truncation(**cut), temperature, reads=reads
        )
        some = found.log_probabilities.isfinite()
        kept = [
            dict(zip(ids[here].tolist(), scores[here].tolist(), strict=True))
            for ids, here, scores in zip(found.ids, some, found.log_probabilities, strict=True)
        ]
        assert [set(each) for each in kept] == [set(each) for each in expected]
        for each, other in zip(kept, expected, strict=True):
            assert each == pytest.approx(other, abs=1e-5)
