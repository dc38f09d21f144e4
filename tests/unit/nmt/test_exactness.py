"""What `benchmarks/bench_families.py` shows: logits, searches and scores of each family."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from benchmarks.bench_families import (
    FAMILIES,
    SOURCES,
    Copy,
    beam_search,
    constraints,
    engine,
    pieces,
    published,
    scoring,
    trained_copy,
)
from workflow_scripts.nmt.int8 import LARGEST, largest_input

pytestmark = pytest.mark.slow

# One is trained for a first answer.
each = pytest.mark.parametrize(
    "name",
    [
        name if name == "m2m100_418M" else pytest.param(name, marks=pytest.mark.rest)
        for name in FAMILIES
    ],
)


@pytest.fixture(scope="module")
def copy_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Copy]:
    return cache(lambda name: trained_copy(FAMILIES[name], tmp_path_factory.mktemp("copy") / name))


@pytest.mark.rest
@pytest.mark.parametrize("name", FAMILIES)
def test_logits_of_published_shapes(tmp_path: Path, name: str):
    found = published(FAMILIES[name], tmp_path / "model")
    assert max(found.differences) < 1e-4
    assert found.deviation > 0.5
    # Others are at work beside it.
    assert found.memory < 7


@each
def test_beam_search_is_the_library_s_up_to_ties(copy_of: Callable[[str], Copy], name: str):
    found = beam_search(copy_of(name))
    assert found.equal + found.ties == SOURCES


@each
def test_scores_are_the_library_s_losses(copy_of: Callable[[str], Copy], name: str):
    assert scoring(copy_of(name)) < 1e-5


@each
def test_constraints_are_met(copy_of: Callable[[str], Copy], name: str):
    assert constraints(copy_of(name)) == SOURCES


@each
def test_ctranslate2_s_folders_are_read_as_by_its_engine(copy_of, tmp_path, name):
    found = engine(copy_of(name), tmp_path)
    assert found.outputs.equal >= 0.95 * SOURCES
    assert found.outputs.gaps == []
    assert found.scores < 1e-5
    # Without VNNI the engine's own products of 8 bits overflow.
    assert found.int8 < 0.01 or largest_input() < LARGEST


@each
def test_pieces_are_the_library_s(tmp_path: Path, name: str):
    equal, texts = pieces(name, tmp_path)
    assert equal == texts
