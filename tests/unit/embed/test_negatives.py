import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import normalize

from workflow_scripts.stages.embed import negatives
from workflow_scripts.stages.embed.negatives import NONE, Keys, hardest


def keys_of(pairs):
    """Return the keys of references, then paraphrases, given pairs of small numbers."""
    first, second = torch.tensor(pairs).T
    own, partner = torch.cat([first, second]), torch.cat([second, first])
    return Keys(own, partner, torch.cat([first, first]))


def brute_force(vectors, pairs):
    sentences = [(p, 0) for p in range(len(pairs))] + [(p, 1) for p in range(len(pairs))]
    chosen = []
    for i, (pair, side) in enumerate(sentences):
        own, partner, reference = pairs[pair][side], pairs[pair][1 - side], pairs[pair][0]
        best, index = -2.0, NONE
        for j, (other, other_side) in enumerate(sentences):
            copy = pairs[other][other_side] in (own, partner)
            if not copy and pairs[other][0] != reference:
                similarity = float(vectors[i] @ vectors[j])
                if similarity > best:
                    best, index = similarity, j
        chosen.append(index)
    return chosen


@pytest.mark.slow
@given(st.data())
def test_hardest_is_what_an_exhaustive_search_finds(data):
    count = data.draw(st.integers(1, 8))
    number = st.integers(0, 6)
    pairs = data.draw(st.lists(st.tuples(number, number), min_size=count, max_size=count))
    torch.manual_seed(data.draw(st.integers(0, 1000)))
    vectors = normalize(torch.randn(2 * count, 5, dtype=torch.float64))
    assert hardest(vectors, keys_of(pairs)).tolist() == brute_force(vectors, pairs)


def test_blocks_make_no_difference(monkeypatch):
    torch.manual_seed(1)
    vectors = normalize(torch.randn(40, 6))
    keys = keys_of([(n % 7, n + 10) for n in range(20)])
    whole = hardest(vectors, keys)
    monkeypatch.setattr(negatives, "_BLOCK", 7)
    assert torch.equal(hardest(vectors, keys), whole)
