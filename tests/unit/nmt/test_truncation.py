"""The truncations, against those of Hugging Face's `generate` and their own definitions."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.generation.logits_process import (
    EpsilonLogitsWarper,
    MinPLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.truncation import Truncation

WARPERS = {
    "k": TopKLogitsWarper,
    "top_p": TopPLogitsWarper,
    "min_p": MinPLogitsWarper,
    "epsilon": EpsilonLogitsWarper,
}
SHARES = st.none() | st.floats(0.001, 0.999)
TRUNCATIONS = st.fixed_dictionaries(
    {"k": st.none() | st.integers(1, 40), "top_p": SHARES, "min_p": SHARES, "epsilon": SHARES}
).filter(lambda cut: any(cut.values()))


def sorted_scores(seed: int, tokens: int, forbidden: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    scores = 3 * torch.randn(3, tokens, generator=generator).double()
    scores = scores.sort(dim=1, descending=True).values
    stops = torch.randperm(tokens, generator=generator)[: min(forbidden, tokens - 1)]
    scores[:, stops] = -torch.inf
    return scores


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(cut=TRUNCATIONS, seed=st.integers(0, 999), tokens=st.integers(2, 40), out=st.integers(0, 9))
def test_what_is_kept_is_what_hugging_face_keeps(cut, seed, tokens, out):
    scores = sorted_scores(seed, tokens, out)
    expected = scores
    for name, warper in WARPERS.items():
        if cut[name] is not None:
            expected = warper(cut[name])(None, expected)
    kept, _ = Truncation(**cut).kept(scores, scores.logsumexp(dim=1))
    assert torch.equal(kept, expected.isfinite())


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(
    cut=TRUNCATIONS.map(lambda cut: cut | {"k": None}).filter(lambda cut: any(cut.values())),
    seed=st.integers(0, 999),
    tokens=st.integers(2, 40),
    data=st.data(),
)
def test_a_certain_row_keeps_the_same_of_the_best_tokens_as_of_all(cut, seed, tokens, data):
    truncation = Truncation(**cut)
    scores = sorted_scores(seed, tokens, 0)
    total = scores.logsumexp(dim=1)
    everything, _ = truncation.kept(scores, total)
    count = data.draw(st.integers(1, tokens))
    kept, certain = truncation.kept(scores[:, :count], total)
    for row in certain.nonzero()[:, 0].tolist():
        assert torch.equal(kept[row], everything[row, :count])
        assert not everything[row, count:].any()
    wide, all_certain = truncation.kept(
        torch.nn.functional.pad(scores, (0, 1), value=-torch.inf), total
    )
    assert all_certain.all()
    assert torch.equal(wide[:, :-1], everything)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "needs one of k, top_p, min_p and epsilon"),
        ({"k": 0}, "k must be above zero"),
        ({"top_p": 0.0}, "top_p must be above 0 and below 1"),
        ({"top_p": 1.0}, "top_p must be above 0 and below 1"),
        ({"k": 3, "min_p": math.nan}, "min_p must be above 0"),
        ({"epsilon": -0.1}, "epsilon must be above 0"),
    ],
)
def test_impossible_truncations_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        Truncation(**wrong)
