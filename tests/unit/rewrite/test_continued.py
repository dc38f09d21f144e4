"""The job that trains a rewriter on from a finished model: its folder, its plan, its refusals."""

import json
import shutil
from pathlib import Path

import pytest

from tests.golden.inputs import arguments
from tests.unit.nmt.marian_files import write_binary
from tests.unit.train.conftest import write_segments
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import main as write_manifest
from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.files.model_folder import MARIAN_NPZ, model_files
from workflow_scripts.core.files.parquet import TableWriter
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.stages.rewrite import continued
from workflow_scripts.stages.rewrite.training import Training

SETTINGS = {
    **{"from": "forward", "max_updates": 12, "checkpoint_updates": 4, "warmup": 2},
    **{"batch_words": 60, "learning_rate": 0.01, "max_length": 30},
}
CONFIG = {"role": "plain", "direction": "forward", "seed": 1, "about": {"name": "plain"}}


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """A model of Marian as `train` publishes it, segments, and the manifest of their pairs."""
    model = write_binary(tmp_path / "forward", end_bias=1.0)
    for name in ("source.model", "reference.model"):
        shutil.copy(model / "vocab.xxyy.spm", model / name)
    write_record(model / "model", 0, 0, {}, files=sorted(model.iterdir()))
    rows = [
        {
            "id": f"toy:{number}",
            "split": "train" if number < 40 else "dev" if number < 50 else "test",
            "copy": 0,
            "source": f"▁{number % 9 + 4} ▁{number % 7 + 5}",
            "reference": f"▁{number % 7 + 5} ▁{number % 9 + 4}",
        }
        for number in range(56)
    ]
    segments = tmp_path / "segments"
    segments.mkdir()
    write_segments(segments / "0000.parquet", rows)
    pairs = tmp_path / "pairs"
    with TableWriter(pairs / "0000.parquet", PairRow) as writer:
        writer.write({"id": "a", "source": "b", "reference": "c", "corpus": "train"})
    extra = {"pairs": {"train": 1}, "references": {"train": 1}}
    write_record(pairs / "0000.parquet", 3, 1, {"identical": 2}, extra)
    unit = {"stage": "rewrite", "instance": "plain-pairs", "version": 1, "config": {}, "name": "x"}
    words = ["--unit", json.dumps(unit), "--folder", str(pairs), "--shards", "1", "--records"]
    write_manifest([*words, "--output", str(pairs / "manifest.json")])
    return tmp_path


def make(inputs: Path, **changes: object) -> Path:
    output = inputs / "output"
    options = {"segments": inputs / "segments", "pairs": inputs / "pairs" / "manifest.json"}
    options |= {"model": inputs / "forward", "work": output / "work", "output": output}
    config = CONFIG | {"continued": SETTINGS | changes}
    continued.main(arguments(config, **options, shards=1, device="cpu"))
    return output


@pytest.mark.slow
def test_the_folder_is_a_model_with_all_that_train_publishes(inputs: Path):
    output = make(inputs)
    files = verify(output / "model")["files"]
    assert set(files) == {
        *("model.npz", "vocab.xxyy.spm", "source.model", "reference.model"),
        *("metrics.json", "learning_curve.tsv", "learning_curve.svg", "rewriter.json"),
    }
    assert model_files(output).kind == MARIAN_NPZ
    load_model(output, "cpu")
    metrics = json.loads((output / "metrics.json").read_text())
    assert (metrics["updates"], metrics["checkpoints"], metrics["kind"]) == (12, 3, MARIAN_NPZ)
    assert metrics["segments"] == {"train": 40, "dev": 10, "test": 6}
    assert metrics["bleu"]["sentences"] == 6
    curve = (output / "learning_curve.tsv").read_text().splitlines()
    assert [line.split("\t")[1] for line in curve] == ["updates", "4", "8", "12"]
    about = json.loads((output / "rewriter.json").read_text())
    assert about["left_out"] == {"identical": 2}
    reference = (inputs / "forward" / "reference.model").read_bytes()
    assert (output / "source.model").read_bytes() == reference


@pytest.mark.slow
def test_published_files_that_are_gone_are_made_without_training(inputs: Path, monkeypatch):
    output = make(inputs)
    before = verify(output / "model")["files"]
    for path in output.iterdir():
        if path.is_file():
            path.unlink()
    monkeypatch.setattr(Training, "update", None)
    assert verify(make(inputs) / "model")["files"] == before


@pytest.mark.slow
def test_after_a_kill_before_the_model_is_saved_it_is_the_same(inputs: Path, monkeypatch):
    before = verify(make(inputs) / "model")["files"]
    work = inputs / "output" / "work"
    (work / "finished.json").unlink()
    (work / "model" / "model.npz").write_bytes(b"half")
    assert verify(make(inputs) / "model")["files"] == before


@pytest.mark.slow
def test_other_settings_start_over(inputs: Path, capfd):
    make(inputs)
    output = make(inputs, max_updates=4)
    assert "holds work on other data or settings; starting over" in capfd.readouterr().err
    assert json.loads((output / "metrics.json").read_text())["updates"] == 4


def test_pairs_longer_than_the_model_reads_are_refused(inputs: Path):
    with pytest.raises(InputError, match=r"max_length of plain is 40, but .* at most 39 pieces"):
        make(inputs, max_length=40)


def test_a_damaged_model_is_refused(inputs: Path):
    (inputs / "forward" / "model.xxyy.bin").write_bytes(b"")
    with pytest.raises(InputError, match="differs from what its stage wrote"):
        make(inputs)


def test_pairs_that_are_all_too_long_are_refused(inputs: Path):
    with pytest.raises(
        InputError, match=r"all .* train segments .* max_length, 1 pieces: raise it"
    ):
        make(inputs, max_length=1)
