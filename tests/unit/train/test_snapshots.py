import shutil
import subprocess
from pathlib import Path

import pytest

from workflow_scripts.stages.train import snapshots


def write_model(model: Path, checkpoint: int) -> None:
    """Write a folder like Sockeye's after a checkpoint: links and a nested state."""
    shutil.rmtree(model, ignore_errors=True)
    (model / "training_state").mkdir(parents=True)
    (model / f"params.{checkpoint:05d}").write_text(f"weights {checkpoint}")
    (model / "params.best").symlink_to(f"params.{checkpoint:05d}")
    (model / "training_state" / "params").symlink_to(f"../params.{checkpoint:05d}")
    (model / "training_state" / "rng").write_text(f"random {checkpoint}")
    (model / "metrics").write_text("m" * checkpoint)


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def model(tmp_path) -> Path:
    """A model folder after checkpoint 2, of which there is a snapshot."""
    model = tmp_path / "model"
    for checkpoint in (1, 2):
        write_model(model, checkpoint)
        snapshots.take(tmp_path, model, checkpoint)
    return model


def test_only_the_newest_snapshot_is_kept(tmp_path, model):
    assert [path.name for path in snapshots.snapshots(tmp_path)] == ["snapshot.000002"]
    assert contents(tmp_path / "snapshot.000002") == contents(model)


def test_without_a_snapshot_nothing_of_the_folder_is_trusted(tmp_path):
    write_model(tmp_path / "model", 1)
    assert not snapshots.restore(tmp_path, tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    "damage",
    [
        "cp -a training_state tmp.training_state",
        "mv training_state delete.training_state",
        "ln -sfn ../params.00003 training_state/params",
        "ln -sfn ../params.00003 training_state/params; printf weig > params.00003",
        "rm params.best",
        "rm params.00002",
        "truncate -s 0 metrics",
        "rm -r ../model",
    ],
)
def test_whatever_a_kill_leaves_behind_the_snapshot_comes_back(tmp_path, model, damage):
    expected = contents(model)
    subprocess.run(damage, shell=True, check=True, cwd=model)
    assert not model.exists() or contents(model) != expected
    assert snapshots.restore(tmp_path, model)
    assert contents(model) == expected
    assert (model / "params.best").readlink() == Path("params.00002")


def test_a_snapshot_cut_off_halfway_is_not_used(tmp_path, model):
    expected = contents(model)
    write_model(model, 3)
    unfinished = tmp_path / "snapshot.000003.unfinished"
    shutil.copytree(model, unfinished, symlinks=True)
    (unfinished / "metrics").unlink()
    assert snapshots.restore(tmp_path, model)
    assert contents(model) == expected
    write_model(model, 3)
    snapshots.take(tmp_path, model, 3)
    assert contents(tmp_path / "snapshot.000003") == contents(model)
    assert not unfinished.exists()


def test_two_complete_snapshots_of_a_kill_before_the_old_one_went(tmp_path, model):
    shutil.copytree(tmp_path / "snapshot.000002", tmp_path / "snapshot.000001", symlinks=True)
    (tmp_path / "snapshot.000001" / "metrics").write_text("old")
    snapshots.restore(tmp_path, model)
    assert (model / "metrics").read_text() == "mm"


def test_snapshots_are_dropped_when_training_is_over(tmp_path, model):
    snapshots.drop(tmp_path)
    assert snapshots.snapshots(tmp_path) == []
    assert contents(model)


def test_what_a_full_disk_left_of_a_snapshot_takes_up_no_space_later(tmp_path, model):
    write_model(tmp_path / "snapshot.000003.unfinished", 3)
    assert snapshots.restore(tmp_path, model)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "snapshot.000002"]
