"""Training on: what it learns, what it keeps, and that a kill changes nothing."""

import itertools
import json
import math
from pathlib import Path

import pytest
import torch

from tests.unit.nmt.marian_files import write_npz
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.training import loop
from workflow_scripts.nmt.trainable import Trainable
from workflow_scripts.plan.schema import filled
from workflow_scripts.stages.rewrite.training import Training, batches, cut_by_length, factor

# Words are to be written backwards.
PAIRS = [
    ([a, b, c][:length], [a, b, c][:length][::-1])
    for a in range(4, 12)
    for b in range(5, 9)
    for c in (6, 13)
    for length in (1, 2, 3)
]
SETTINGS = {
    **{"from": "forward", "learning_rate": 0.01, "warmup": 5, "batch_words": 100},
    **{"max_updates": 60, "checkpoint_updates": 10, "dropout": 0.05},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return write_npz(tmp_path_factory.mktemp("models") / "model")


def begun(folder: Path, **changes: object) -> Training:
    return Training(
        "plain",
        Trainable(folder, torch.device("cpu")),
        filled(SETTINGS | changes, "continued"),
        train=PAIRS,
        dev=PAIRS[::5],
        seed=1,
    )


class KilledError(Exception):
    pass


@pytest.mark.slow
def test_the_loss_falls_and_the_best_parameters_stay(folder):
    work = begun(folder)
    work.run()
    perplexities = [row["validation_perplexity"] for row in work.history]
    assert perplexities[-1] < perplexities[0] / 1.5
    assert work.updates == 60
    assert [row["updates"] for row in work.history] == [10, 20, 30, 40, 50, 60]
    assert perplexities[work.best_point()] == min(perplexities)
    assert work._validated() == min(perplexities)


@pytest.mark.rest
@pytest.mark.parametrize("kills", [[7], [13, 4], [25, 1, 30]])
def test_after_kills_it_ends_with_the_same_bits(folder, tmp_path, monkeypatch, kills):
    whole = begun(folder)
    whole.run()
    original = Training.update
    for updates in kills:
        done = []

        def update(self, batch, done=done, updates=updates):
            if len(done) == updates:
                raise KilledError
            done.append(1)
            return original(self, batch)

        monkeypatch.setattr(Training, "update", update)
        with pytest.raises(KilledError):
            begun(folder).run(tmp_path / "state.pt")
    monkeypatch.setattr(Training, "update", original)
    work = begun(folder)
    work.run(tmp_path / "state.pt")
    assert work.history == whole.history
    pairs = zip(work.trainable.trained, whole.trainable.trained, strict=True)
    assert all(torch.equal(*tensors) for tensors in pairs)


@pytest.mark.slow
def test_patience_ends_it(folder):
    work = begun(folder, learning_rate=1e-12, patience=2, dropout=0.0)
    work.run()
    assert len(work.history) == work.best_point() + 3 < 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "warmup", "update"),
    [(1e30, 0, r"\d+"), (10.0, 1, 10)],  # of the second no float can hold the perplexity
)
def test_a_training_that_diverges_says_so(folder, rate, warmup, update):
    told = f"plain diverged at update {update}: lower continued.learning"
    with pytest.raises(InputError, match=told):
        begun(folder, learning_rate=rate, warmup=warmup).run()


def test_a_progress_line_tells_how_far_it_is(folder, monkeypatch, capfd):
    monkeypatch.setattr(loop, "INTERVAL_SECONDS", 0.0)
    begun(folder, max_updates=10).run()
    from workflow_scripts.core.progress import parse_line

    lines = capfd.readouterr().err.splitlines()
    shown = [parse_line(line) for line in lines if line.startswith("train plain: ")]
    assert [step.done for step in shown if step] == list(range(1, 11))
    assert "left at most, perplexity " in lines[0]
    assert lines[-3].startswith("plain: checkpoint 1, 10 updates, validation perplexity ")


@pytest.mark.parametrize("epoch", [1, 2])
def test_an_epoch_has_every_pair_once_in_batches_of_bounded_size(epoch):
    epoch_batches = batches(PAIRS, 50, 1, epoch)
    assert sorted(map(json.dumps, PAIRS)) == sorted(json.dumps(p) for b in epoch_batches for p in b)
    for batch in epoch_batches:
        assert len(batch) * (max(max(map(len, pair)) for pair in batch) + 1) <= 50
    assert epoch_batches == batches(PAIRS, 50, 1, epoch) != batches(PAIRS, 50, 2, epoch)
    assert batches(PAIRS, 50, 1, 1) != batches(PAIRS, 50, 1, 2)


def test_a_long_pair_is_a_batch_by_itself():
    long = ([5] * 30, [6])
    assert cut_by_length([long, ([5], [6]), long], 20) == [[([5], [6])], [long], [long]]
    assert cut_by_length([], 20) == []


@pytest.mark.parametrize("schedule", ["linear-decay", "inv-sqrt-decay"])
def test_the_rate_rises_to_its_peak_and_falls(schedule):
    settings = {"warmup": 10, "max_updates": 100, "schedule": schedule}
    rates = [factor(update, settings) for update in range(100)]
    assert rates[:10] == pytest.approx([(update + 1) / 10 for update in range(10)])
    assert all(first > second for first, second in itertools.pairwise(rates[9:]))
    last = 1 / 91 if schedule == "linear-decay" else math.sqrt(0.1)
    assert rates[-1] == pytest.approx(last)
