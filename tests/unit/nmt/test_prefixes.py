"""Distinct prefixes of targets: where they stand, and that a decoder gives the same for them."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.prefixes import Prefixes
from workflow_scripts.nmt.vocabulary import BOS

# For each source its targets, many of which begin alike.
TARGETS = st.lists(
    st.lists(
        st.lists(st.integers(4, 6), max_size=5) | st.lists(st.integers(4, 23), max_size=9),
        min_size=1,
        max_size=6,
    ),
    min_size=1,
    max_size=4,
)


def flat(sources: list[list[list[int]]]) -> tuple[list[list[int]], list[int]]:
    """Return all targets, and of each the number of its source."""
    pairs = [(target, number) for number, found in enumerate(sources) for target in found]
    return [target for target, _ in pairs], [number for _, number in pairs]


def read(prefixes: Prefixes) -> list[tuple[int, tuple[int, ...]]]:
    """Return the source and the pieces of every prefix, read along the row where it is first."""
    places = prefixes.targets
    width = places.prefix.shape[1]
    rows = [places.prefix.ravel()[first // width * width : first + 1] for first in places.first]
    return [
        (int(source), tuple(prefixes.tokens[row].tolist()))
        for source, row in zip(prefixes.sources, rows, strict=True)
    ]


@pytest.mark.slow
@given(sources=TARGETS)
def test_every_prefix_stands_where_the_targets_have_it(sources):
    targets, numbers = flat(sources)
    prefixes = Prefixes.of(targets, numbers)
    found = read(prefixes)
    for target, number, row in zip(targets, numbers, prefixes.targets.prefix, strict=True):
        whole = (BOS, *target)
        for length in range(1, len(whole) + 1):
            assert found[row[length - 1]] == (number, whole[:length])
            assert prefixes.positions[row[length - 1]] == length - 1


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(sources=TARGETS)
@torch.inference_mode()
def test_a_decoder_gives_what_it_gives_for_whole_targets(either: Model, sources):
    targets, numbers = flat([sorted(found) for found in sources])
    memory = either.remember(*either.encode([[4 + n] * (1 + n) for n in range(len(sources))]))
    lead = len(either.marks.lead)
    prefixes = Prefixes.of(targets, numbers, either.marks.lead)
    found = either.decode_prefixes(prefixes, memory)
    expected = either.decode(targets, memory.select(torch.tensor(numbers)))
    at = [
        prefix
        for target, row in zip(targets, prefixes.targets.prefix, strict=True)
        for prefix in row[lead : lead + len(target) + 1]
    ]
    assert len(found) == len(prefixes.followed)
    at = np.searchsorted(prefixes.followed, at)
    assert torch.allclose(found[at], expected, atol=1e-5)
