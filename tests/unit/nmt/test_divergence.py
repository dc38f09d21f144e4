"""What a target is given one source beside another, against plain torch and `scoring`."""

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import kl_div

from tests.unit.nmt.by_hand import log_probabilities
from tests.unit.nmt.folders import write_model
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt import divergence
from workflow_scripts.nmt.divergence import UNREADABLE, Compared, Group, compared, compared_texts
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Memory, Model
from workflow_scripts.nmt.prefixes import Prefixes
from workflow_scripts.nmt.scoring import score

SIDES = st.lists(st.integers(4, 23), min_size=1, max_size=8)
GROUPS = st.lists(
    st.builds(Group, SIDES, SIDES, st.lists(SIDES, max_size=4)), min_size=1, max_size=4
)
LONG = [4] * 40
GROUP = Group([7, 8, 9], [5, 6], [[6, 5], [5, 6, 7], [10]])


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """A random model of 196 pieces: more than are told apart, and no multiple of 64."""
    folder = tmp_path_factory.mktemp("models") / "large"
    return load_model(write_model(folder, vocabulary=200, seed=3), "cpu")


def near(expected: Compared):
    return pytest.approx(tuple(expected), abs=2e-5)


def of_group(model: Model, target, first, other, **options) -> Compared:
    [[found]] = compared(model, [Group(target, first, [other])], **options)
    return found


def whole(p: Tensor, q: Tensor) -> list[float]:
    """Return sum p log(p / q) of each row; what can't be written counts nothing."""
    return kl_div(q, p, log_target=True, reduction="none").nansum(dim=1).tolist()


def test_with_few_pieces_it_is_the_whole_divergence(either: Model):
    p, q = (log_probabilities(either, source, [7, 8, 9]) for source in ([5, 6], [6, 5]))
    found = of_group(either, [7, 8, 9], [5, 6], [6, 5])
    assert found.divergence == pytest.approx(max(whole(p, q)), abs=1e-5)
    assert found.divergence > 1e-3


def test_of_many_pieces_the_64_likeliest_are_told_apart_and_the_rest_is_one(large: Model):
    target, first, other = [150, 8, 9, 120], [5, 6], [70, 6]
    p, q = (log_probabilities(large, source, target).double() for source in (first, other))
    by_place = []
    for own, its in zip(p.exp().tolist(), q.exp().tolist(), strict=True):
        order = sorted(range(200), key=lambda token: -own[token])
        cells = [([token], own[token]) for token in order[:64]]
        cells.append((order[64:], sum(own[token] for token in order[64:])))
        by_place.append(
            sum(mass * math.log(mass / sum(its[token] for token in part)) for part, mass in cells)
        )
    found = of_group(large, target, first, other)
    assert found.divergence == pytest.approx(max(by_place), abs=1e-5)
    assert 1e-3 < found.divergence < max(whole(p, q)) - 1e-3


def test_the_nll_is_that_of_scoring_and_lost_the_difference_of_totals(either: Model):
    [found] = compared(either, [GROUP])
    first, *others = score(
        either, [(source, GROUP.target) for source in (GROUP.first, *GROUP.others)]
    )
    assert [each.nll for each in found] == pytest.approx(others, abs=1e-5)
    lost = [4 * (nll - first) for nll in others]
    assert [each.lost for each in found] == pytest.approx(lost, abs=2e-5)
    assert min(lost) < 0 < max(lost)


@settings(deadline=None, max_examples=25)
@given(groups=GROUPS, batch_tokens=st.integers(1, 80))
def test_neither_batches_nor_neighbours_nor_their_order_matter(either, groups, batch_tokens):
    found = compared(either, groups, batch_tokens=batch_tokens)
    turned = compared(either, [Group(t, f, others[::-1]) for t, f, others in groups[::-1]])
    for group, answers, again in zip(groups, found, turned[::-1], strict=True):
        alone = [of_group(either, group.target, group.first, other) for other in group.others]
        assert answers == [near(each) for each in alone] == again[::-1]


@settings(deadline=None, max_examples=25)
@given(groups=GROUPS, batch_tokens=st.integers(1, 80))
def test_a_batch_has_no_more_positions_than_it_may_have(tiny, groups, batch_tokens):
    batches = []
    with pytest.MonkeyPatch.context() as patch:
        numbers = divergence._numbers
        patch.setattr(divergence, "_numbers", lambda *of: batches.append(of[1]) or numbers(*of))
        compared(tiny, groups, batch_tokens=batch_tokens)
    for batch in batches:
        width = max(len(side) + 1 for part in batch for side in (part.group.target, *part.sources))
        sequences = sum(1 + len(part.places) for part in batch)
        assert sequences * width <= batch_tokens or [len(part.places) for part in batch] == [1]


def test_what_can_not_be_read_is_infinitely_far(tiny: Model):
    groups = [
        Group([7], [5], [[], [6], LONG]),
        Group([], [5], [[6]]),
        Group(LONG, [5], [[6]]),
        Group([7], [5], []),
    ]
    [[empty, good, long], *others] = compared(tiny, groups)
    assert all(map(math.isfinite, good))
    assert empty == long == UNREADABLE == (math.inf,) * 3
    assert others == [[UNREADABLE], [UNREADABLE], []]


@pytest.mark.parametrize("first", [[], LONG])
def test_beside_a_first_source_that_can_not_be_read_there_is_the_nll_alone(either: Model, first):
    others = [[], [6], [5, 7]]
    [found] = compared(either, [Group([7, 8], first, others)])
    nlls = list(score(either, [(other, [7, 8]) for other in others]))
    assert found == [(pytest.approx(nll, abs=1e-5), math.inf, math.inf) for nll in nlls]


def test_rows_of_logits_come_in_blocks(large: Model, monkeypatch: pytest.MonkeyPatch):
    groups = [GROUP, Group([150] * 9, [70, 9], [[9, 70], [8]]), Group([9], [4], [[5]])]
    expected = compared(large, groups)
    for rows in (1, 3, 16):
        monkeypatch.setattr(divergence, "output_rows", lambda device, rows=rows: rows)
        assert compared(large, groups) == [list(map(near, found)) for found in expected]


def starve(patch: pytest.MonkeyPatch, most: int) -> None:
    """Let memory run out where more than so many targets are decoded at once."""
    decode = Model.decode_prefixes

    def starved(model: Model, prefixes: Prefixes, memory: Memory) -> torch.Tensor:
        if len(prefixes.targets.prefix) > most:
            raise torch.OutOfMemoryError
        return decode(model, prefixes, memory)

    patch.setattr(Model, "decode_prefixes", starved)


@pytest.mark.parametrize("most", [2, 4])
def test_memory_that_runs_out_halves_the_batch(tiny, monkeypatch, most):
    groups = [GROUP, Group([4], [9], [[8]]), Group([5, 6], [7], [[4], [5], [6], [7], [8]])]
    expected = compared(tiny, groups)
    starve(monkeypatch, most)
    assert compared(tiny, groups) == [list(map(near, found)) for found in expected]


def test_memory_that_is_too_small_for_one_pair_is_an_error(tiny, monkeypatch):
    starve(monkeypatch, 1)
    with pytest.raises(torch.OutOfMemoryError):
        compared(tiny, [GROUP])


def test_texts_keep_their_order_and_those_of_one_target_are_one_group(tiny, monkeypatch):
    texts = [("5 6", "7 8", "6"), ("9", "7 8", "6"), ("5 6", "7 8", "10 4"), ("5 6", "4", "6")]
    texts.append(texts[0])
    asked = []

    def noted(model: Model, groups: list[Group], **options: int) -> list[list[Compared]]:
        asked.extend(groups)
        return compared(model, groups, **options)

    def ids(text: str) -> list[int]:
        return [int(word) for word in text.split()]

    monkeypatch.setattr(divergence, "compared", noted)
    found = compared_texts(tiny, texts, ids, lambda text: ids(text)[::-1], batch_tokens=30)
    assert [(group.first, len(group.others)) for group in asked] == [
        ([5, 6], 3),
        ([9], 1),
        ([5, 6], 1),
    ]
    expected = [
        of_group(tiny, ids(target)[::-1], ids(first), ids(other)) for first, target, other in texts
    ]
    assert found == list(map(near, expected))
    assert compared_texts(tiny, [], ids, ids) == []


def test_a_batch_without_positions_is_refused(tiny: Model):
    with pytest.raises(InputError, match="0 positions per batch: must be above zero"):
        compared(tiny, [GROUP], batch_tokens=0)


def test_bf16_is_close(tiny_folder: Path, tiny: Model):
    [low], [exact] = (
        compared(model, [GROUP]) for model in (load_model(tiny_folder, "cpu", "bf16"), tiny)
    )
    for found, expected in zip(low, exact, strict=True):
        assert found == pytest.approx(tuple(expected), rel=0.1, abs=0.01)
