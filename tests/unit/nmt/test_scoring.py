import math
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sockeye.model import load_model as load_sockeye_model

from tests.unit.nmt.by_hand import log_probabilities
from tests.unit.nmt.folders import write_model
from tests.unit.nmt.no_data import Recorder, without_data
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt import scoring
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Memory, Model
from workflow_scripts.nmt.prefixes import Prefixes
from workflow_scripts.nmt.scoring import forced, score

SIDES = st.lists(st.integers(4, 23), min_size=1, max_size=12)
# Many of these begin alike or are equal.
ALIKE = st.lists(st.integers(4, 5), min_size=1, max_size=4)
PAIRS = st.lists(
    st.tuples(SIDES, SIDES) | st.tuples(ALIKE, ALIKE) | st.tuples(st.just([6]), ALIKE),
    min_size=1,
    max_size=12,
)


@pytest.mark.slow
@settings(deadline=None, max_examples=20)
@given(pairs=PAIRS, batch_tokens=st.integers(1, 60))
def test_batches_do_not_matter(either: Model, pairs, batch_tokens: int):
    alone = [next(score(either, [pair])) for pair in pairs]
    assert list(score(either, pairs, batch_tokens=batch_tokens)) == pytest.approx(alone, abs=1e-5)


def test_buffers_keep_the_order(tiny: Model, monkeypatch: pytest.MonkeyPatch):
    pairs = [([4 + n % 20] * (1 + n % 7), [5 + n % 19] * (1 + n % 5)) for n in range(50)]
    expected = list(score(tiny, pairs))
    monkeypatch.setattr(scoring, "BUFFER_BATCHES", 2)
    assert list(score(tiny, pairs, batch_tokens=20)) == pytest.approx(expected, abs=1e-5)


def test_is_the_mean_over_the_tokens_with_the_end(either: Model):
    source, target = [5, 6], [7, 8, 9]
    rows = log_probabilities(either, source, target)
    nlls = [-float(rows[n, t]) for n, t in enumerate([*target, 3])]
    expected = sum(nlls) / 4
    assert next(score(either, [(source, target)])) == pytest.approx(expected, abs=1e-5)
    assert next(forced(either, [(source, target)])) == (
        pytest.approx(expected, abs=1e-5),
        pytest.approx(max(nlls), abs=1e-5),
        pytest.approx(sum(nlls), abs=1e-5),
    )


def test_all_nlls_of_an_unreadable_pair_are_infinite(tiny: Model):
    assert list(forced(tiny, [([5], []), ([], [5])])) == [(math.inf,) * 3] * 2


@pytest.mark.parametrize("weight_tying", ["none", "src_trg_softmax", "src_trg"])
def test_any_tying_of_weights_is_that_of_sockeye(tmp_path: Path, weight_tying: str):
    folder = write_model(tmp_path / "model", layers=2, weight_tying=weight_tying)
    source, target = [4, 9, 5, 3], [2, 7, 8, 9]
    sockeye, _, _ = load_sockeye_model(str(folder), device=torch.device("cpu"))
    sockeye.eval()
    lengths = (torch.tensor([[len(source), 0]]), torch.tensor([len(target)]))
    with torch.inference_mode():
        output = sockeye(
            torch.tensor([source])[:, :, None],
            lengths[0],
            torch.tensor([target])[:, :, None],
            lengths[1],
        )
    log_probabilities = output["logits"][0].log_softmax(dim=1)
    labels = torch.tensor([[*target[1:], 3]])
    expected = -log_probabilities.gather(1, labels.T).mean()
    [nll] = score(load_model(folder, "cpu"), [(source[:-1], target[1:])])
    assert nll == pytest.approx(float(expected), abs=1e-5)


def test_sides_that_cannot_be_read_are_infinitely_bad(tiny: Model):
    fits, long = [4] * 39, [4] * 40
    pairs = [([], [4]), ([4], []), (long, [4]), ([4], long), (fits, fits)]
    *bad, good = score(tiny, pairs)
    assert bad == [math.inf] * 4
    assert math.isfinite(good)


def test_bf16_is_close(tiny_folder: Path, tiny: Model):
    pairs = [([4, 5, 6], [7, 8]), ([9] * 10, [4, 11, 5])]
    low = score(load_model(tiny_folder, "cpu", "bf16"), pairs)
    assert list(low) == pytest.approx(list(score(tiny, pairs)), abs=0.1)


@torch.inference_mode()
def test_nothing_is_read_before_the_nlls(either: Model):
    with Recorder():
        nlls = scoring._score_at_once(
            without_data(either), [([4, 5], [6]), ([4, 5], [7, 8]), ([9], [4, 5, 6])]
        )
    assert (nlls.device.type, len(nlls)) == ("meta", 3)


def test_memory_that_runs_out_halves_the_batch(tiny: Model, monkeypatch: pytest.MonkeyPatch):
    pairs = [([4 + n, 5], [6, 7, 4 + n]) for n in range(11)]
    expected = list(score(tiny, pairs))
    decode = Model.decode_prefixes
    decoded = []

    def starved(model: Model, prefixes: Prefixes, memory: Memory) -> torch.Tensor:
        if len(prefixes.targets.prefix) > 2:
            raise torch.OutOfMemoryError
        decoded.append(len(prefixes.targets.prefix))
        return decode(model, prefixes, memory)

    monkeypatch.setattr(Model, "decode_prefixes", starved)
    assert list(score(tiny, pairs)) == pytest.approx(expected, abs=1e-5)
    assert sum(decoded) == len(pairs)


@settings(deadline=None, max_examples=20)
@given(pairs=PAIRS)
def test_what_targets_of_a_source_have_in_common_is_computed_once(tiny: Model, pairs):
    with pytest.MonkeyPatch.context() as patch:
        rows = Spy(patch, Model, "decode_prefixes")
        list(score(tiny, pairs))
    [(_, prefixes, _)] = rows.calls
    distinct = {
        (tuple(source), tuple(target[:length]))
        for source, target in pairs
        for length in range(len(target) + 1)
    }
    assert len(prefixes.tokens) == len(distinct)


@settings(deadline=None, max_examples=20)
@given(pairs=PAIRS, batch_tokens=st.integers(1, 60))
def test_a_batch_has_no_more_positions_than_it_may_have(tiny: Model, pairs, batch_tokens: int):
    with pytest.MonkeyPatch.context() as patch:
        batches = Spy(patch, scoring, "_score_at_once")
        list(score(tiny, pairs, batch_tokens=batch_tokens))
    found = [batch for _, batch in batches.calls]
    assert sorted(pair for batch in found for pair in batch) == sorted(pairs)
    for batch in found:
        width = max(len(side) + 1 for pair in batch for side in pair)
        assert len(batch) == 1 or len(batch) * width <= batch_tokens


class Spy:
    """Notes the arguments of all calls of a function, which does its work as before."""

    def __init__(self, patch: pytest.MonkeyPatch, owner: Any, name: str):
        function = getattr(owner, name)
        self.calls: list[tuple] = []

        def called(*arguments: Any) -> Any:
            self.calls.append(arguments)
            return function(*arguments)

        patch.setattr(owner, name, called)


def test_a_batch_without_positions_is_refused(tiny: Model):
    with pytest.raises(InputError, match="0 positions per batch: must be above zero"):
        list(score(tiny, [([4], [4])], batch_tokens=0))
