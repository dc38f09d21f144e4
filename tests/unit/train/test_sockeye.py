"""The training stage as a whole, on micro models: a start of Sockeye costs about five seconds."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.unit.train.conftest import MICRO, ROOT
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import sha256, verify
from workflow_scripts.core.files.seal import SEAL, read_sealed, sealed
from workflow_scripts.stages.train import process, sockeye, work_folder
from workflow_scripts.stages.train.sockeye import main

CHECKPOINTS = MICRO["max_updates"] // MICRO["checkpoint_updates"]
# Runs the launcher with a kill -9 of itself inside a given call of a given function.
SABOTAGED_LAUNCHER = """
import os, signal, sys
from sockeye import training
from workflow_scripts.stages.train import launcher, snapshots

owner = {{"trainer": training.EarlyStoppingTrainer, "snapshots": snapshots}}["{owner}"]
original, calls = owner.{function}, []

def kill(*args, **kwargs):
    calls.append(1)
    if len(calls) < {call}:
        return original(*args, **kwargs)
    {before}
    os.kill(os.getpid(), signal.SIGKILL)

owner.{function} = kill
launcher.main()
"""
HALF_WRITTEN = """
    path = args[0].current_params_fname
    original(*args, **kwargs)
    os.truncate(path, os.path.getsize(path) // 2)
"""
# (owner, function, which call in this process, what still happens in it), in the order in which
# they hit one training. Before its first checkpoint Sockeye saves its parameters once.
KILLS = [
    ("trainer", "_save_lr_scheduler", 1, "pass"),  # tmp.training_state is half written
    ("trainer", "_save_params", 2, "pass"),  # training_state links to missing parameters
    ("trainer", "_save_params", 3, HALF_WRITTEN),  # ... to half written ones
    ("trainer", "_update_best_params", 1, "os.remove(args[0].best_params_fname)"),
    ("snapshots", "publish_folder", 2, "pass"),  # the snapshot is copied but not yet in its place
]


def published(folder: Path) -> dict[str, str]:
    return verify(folder / "model")["files"]


@pytest.mark.rest
def test_everything_of_the_contract_is_published(trained):
    record = verify(trained / "model")
    names = {"config", "params.best", "vocab.src.0.json", "vocab.trg.0.json", "version"}
    names |= {"args.yaml", "source.model", "reference.model"}
    names |= {"learning_curve.tsv", "learning_curve.svg", "metrics.json"}
    assert set(record["files"]) == names
    assert (record["rows_in"], record["rows_out"], record["rejected"]) == (200, 200, {})
    metrics = json.loads((trained / "metrics.json").read_text())
    assert metrics["updates"] == MICRO["max_updates"]
    assert metrics["checkpoints"] == CHECKPOINTS
    assert metrics["segments"] == {"train": 200, "dev": 20, "test": 20}
    assert 1 < metrics["validation_perplexity"] < 20
    assert metrics["bleu"]["sentences"] == 20
    curve = (trained / "learning_curve.tsv").read_text().splitlines()
    assert len(curve) == CHECKPOINTS + 1
    assert json.loads((trained / "timings.json").read_text())["training"] > 0


def test_nothing_published_knows_where_it_was_trained(trained):
    names = [*published(trained), "model.json"]
    assert not [
        name for name in names if str(trained.parent).encode() in (trained / name).read_bytes()
    ]


def test_what_only_resuming_needs_is_gone_after_publication(trained):
    left = {path.name for path in (trained / "work").iterdir()}
    assert work_folder.PREPARED not in left
    assert not [name for name in left if name.startswith("snapshot")]
    model = {path.name for path in (trained / "work" / work_folder.MODEL).iterdir()}
    assert "training_state" not in model
    assert model >= {"params.best", "config", work_folder.METRICS}


@pytest.mark.slow
def test_a_finished_model_is_not_trained_again(bitext, trained, monkeypatch, capsys):
    def fail(*_args: object) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(process, "run_sockeye", fail)
    before = published(trained)
    (trained / "params.best").unlink()
    (trained / "model.json").unlink()
    monkeypatch.setattr(sockeye, "doubts", lambda role, metrics: [f"{role} {metrics['updates']}"])
    main(bitext.command(trained, MICRO))
    assert published(trained) == before
    # Models that are too poor for paraphrases are told of.
    warning = f"warning: forward {MICRO['max_updates']}; {sockeye.ADVICE}"
    assert warning in capsys.readouterr().err


@pytest.mark.rest
@pytest.mark.slow
def test_training_goes_on_bit_for_bit_from_every_kill_inside_a_checkpoint(
    bitext, trained, tmp_path, monkeypatch
):
    output = tmp_path / "model"
    for owner, function, call, before in KILLS:
        script = SABOTAGED_LAUNCHER.format(owner=owner, function=function, call=call, before=before)
        with monkeypatch.context() as patch:
            patch.setattr(process, "LAUNCHER", ["-c", script])
            with pytest.raises(InputError, match="was killed"):
                main(bitext.command(output, MICRO))
        assert not (output / "model.json").exists()
    main(bitext.command(output, MICRO))
    assert published(output) == published(trained)


@pytest.mark.rest
@pytest.mark.slow
def test_a_kill_of_the_whole_at_any_moment_costs_nothing_but_time(bitext, trained, tmp_path):
    output = tmp_path / "model"
    moments = random.Random(int(os.environ.get("PYTEST_KILL_SEED", "1")))
    for _ in range(2):
        running = bitext.start(output, MICRO)
        wait_for(output / "work" / work_folder.PREPARED)
        time.sleep(moments.uniform(0.5, 3.0))
        running.send_signal(signal.SIGKILL)
        running.communicate()
    last = bitext.start(output, MICRO)
    _, errors = last.communicate(timeout=120)
    assert last.returncode == 0, errors
    assert published(output) == published(trained)


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.05)


@pytest.mark.slow
def test_the_training_process_ends_with_its_parent(tmp_path):
    script = (
        "import time; from workflow_scripts.stages.train.launcher import end_with_parent; "
        "end_with_parent(); print('ready', flush=True); time.sleep(60)"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert child.stdout.readline() == b"ready\n"
    assert child.poll() is None
    child.stdin.close()
    assert child.wait(timeout=10) == 1
    child.stdout.close()


def test_other_data_or_settings_start_over(make_bitext, tmp_path, monkeypatch, capsys):
    bitext = make_bitext(tmp_path / "bitext")
    output = tmp_path / "model"
    seen = []

    def stop(work: Path, *_: object) -> None:
        seen.append(json.loads((work / work_folder.PLAN).read_text()))
        (work / "half done").touch()
        raise InputError("stopped")

    monkeypatch.setattr(process, "run_sockeye", stop)
    for model, restarts in ((MICRO, False), (MICRO, False), (MICRO | {"dropout": 0.3}, True)):
        with pytest.raises(InputError, match="stopped"):
            main(bitext.command(output, model))
        assert ("starting over" in capsys.readouterr().err) == restarts
    assert seen[0] == seen[1] != seen[2]
    work = output / "work"
    (work / "half done").unlink()
    (work / work_folder.COUNTS).write_text("{}")
    shard = bitext.folder / "0001.parquet"
    record = read_sealed(shard.with_suffix(".json"))
    del record[SEAL]
    shard.write_bytes((bitext.folder / "0000.parquet").read_bytes())
    record["files"][shard.name] = sha256(shard)
    shard.with_suffix(".json").write_text(json.dumps(sealed(record)))
    with pytest.raises(InputError, match="stopped"):
        main(bitext.command(output, MICRO | {"dropout": 0.3}))
    assert json.loads((work / work_folder.COUNTS).read_text())["train"] == 200


def test_a_model_may_be_validated_on_a_sample(bitext, tmp_path, monkeypatch):
    monkeypatch.setattr(process, "run_sockeye", lambda *_: pytest.fail("trained"))
    counts = []
    for number, pairs in enumerate((None, 3)):
        output = tmp_path / str(number)
        with pytest.raises(pytest.fail.Exception):
            main(bitext.command(output, MICRO, **({"dev_pairs": pairs} if pairs else {})))
        counts.append(json.loads((output / "work" / work_folder.COUNTS).read_text()))
        plan = json.loads((output / "work" / work_folder.PLAN).read_text())
        assert plan.get("dev_pairs") == pairs
    assert counts[1] == counts[0] | {"dev": 3, "dev_not_drawn": counts[0]["dev"] - 3}


def test_a_training_does_not_change_its_device_unasked(bitext, tmp_path, monkeypatch):
    output = tmp_path / "model"
    monkeypatch.setattr(process, "run_sockeye", lambda *_: pytest.fail("trained"))
    work = output / "work"
    with pytest.raises(pytest.fail.Exception):
        main(bitext.command(output, MICRO))
    plan = json.loads((work / work_folder.PLAN).read_text())
    assert plan["device"] == "cpu"
    (work / work_folder.PLAN).write_text(json.dumps(plan | {"device": "cuda"}))
    with pytest.raises(pytest.fail.Exception):  # nothing is lost yet
        main(bitext.command(output, MICRO))
    (work / work_folder.PLAN).write_text(json.dumps(plan | {"device": "cuda"}))
    (work / "snapshot.000001").mkdir()
    with pytest.raises(InputError, match=r"began on device cuda and can't go on on cpu"):
        main(bitext.command(output, MICRO))
    assert (work / work_folder.COUNTS).exists()


def test_a_diverged_training_is_an_error(bitext, tmp_path, monkeypatch):
    def diverge(work: Path, *_: object) -> None:
        state = {"updates": 12, "diverged": True}
        (work / work_folder.FINISHED).write_text(json.dumps(state))

    monkeypatch.setattr(process, "run_sockeye", diverge)
    with pytest.raises(InputError, match=r"forward diverged at update 12: lower .*learning_rate"):
        main(bitext.command(tmp_path / "model", MICRO))
    assert not (tmp_path / "model" / "model.json").exists()
