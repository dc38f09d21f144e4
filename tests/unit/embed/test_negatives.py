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


def test_neither_copies_nor_other_paraphrases_of_a_reference_are_negatives():
    # Two pairs of the same reference, one with a copy of its paraphrase as reference, one other.
    pairs = [(1, 2), (1, 3), (2, 9), (7, 8)]
    vectors = torch.ones(8, 3) / 3**0.5
    vectors[[3, 7]] = normalize(torch.tensor([[1.0, 0.0, 0.0]]))
    chosen = hardest(vectors, keys_of(pairs))
    # The reference of pair 0 may not have 1, 2 or 3: what is left is 9, 7 and 8.
    assert chosen[0] == 6
    assert {int(index) % 4 for index in chosen[[0, 1]]} <= {2, 3}


def test_no_negative_where_everything_is_the_same_pair():
    assert hardest(torch.eye(4), keys_of([(1, 2), (1, 2)])).tolist() == [NONE] * 4


def test_blocks_make_no_difference(monkeypatch):
    torch.manual_seed(1)
    vectors = normalize(torch.randn(40, 6))
    keys = keys_of([(n % 7, n + 10) for n in range(20)])
    whole = hardest(vectors, keys)
    monkeypatch.setattr(negatives, "_BLOCK", 7)
    assert torch.equal(hardest(vectors, keys), whole)
