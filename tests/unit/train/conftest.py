import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.golden.inputs import arguments
from tests.tables import write_table
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.rows import SegmentRow
from workflow_scripts.stages.subword.segmenter import Segmenter
from workflow_scripts.stages.subword.train import train_model

ROOT = Path(__file__).resolve().parents[3]
MODULE = "workflow_scripts.stages.train.sockeye"
SOURCE = ["kočka", "pes", "dům", "žena", "vidí", "hledá", "maluje", "nese"]
REFERENCE = ["cat", "dog", "house", "woman", "sees", "seeks", "paints", "carries"]
MICRO = {
    **{"encoder_layers": 1, "decoder_layers": 1, "size": 16, "feed_forward": 32, "heads": 2},
    **{"dropout": 0.1, "label_smoothing": 0.05, "batch_words": 120, "max_length": 40},
    **{"max_updates": 60, "checkpoint_updates": 12},
    **{"learning_rate": 0.01, "warmup": 5, "schedule": "inv-sqrt-decay"},
}


@dataclass
class Bitext:
    """Segments and sub-word models of a toy bitext, and the command line that trains on them."""

    folder: Path
    shards: int = 2
    device: str = "cpu"

    @property
    def models(self) -> dict[str, Path]:
        return {side: self.folder / f"{side}.model" for side in ("source", "reference")}

    def command(self, output: Path, model: dict[str, Any], **changes: Any) -> list[str]:
        config = {"role": "forward", "direction": "forward", "model": model, "seed": 1} | changes
        files = {"segments": self.folder, "work": output / "work", "output": output}
        files |= {f"{side}_model": path for side, path in self.models.items()}
        more = {"shards": self.shards, "threads": 1, "device": self.device}
        return arguments(config, **files, **more)

    def start(self, output: Path, model: dict[str, Any], **changes: Any) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-m", MODULE, *self.command(output, model, **changes)],
            env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
            stderr=subprocess.PIPE,
            text=True,
        )


def write_segments(path: Path, rows: list[dict[str, Any]]) -> None:
    write_table(path, SegmentRow, rows)


def toy_texts() -> dict[str, list[str]]:
    random = np.random.default_rng(1)
    chosen = [random.integers(0, len(SOURCE), size=4) for _ in range(240)]
    return {
        side: [" ".join(words[index] for index in indices) + "." for indices in chosen]
        for side, words in (("source", SOURCE), ("reference", REFERENCE))
    }


def write_bitext(
    folder: Path,
    texts: dict[str, list[str]] | None = None,
    vocab_size: int = 30,
    device: str = "cpu",
) -> Bitext:
    """Write segments and sub-word models; the last 20 pairs are the test, 20 before them `dev`."""
    texts = texts or toy_texts()
    config = {"model_type": "unigram", "coverage": 1.0, "split_digits": True}
    folder.mkdir(parents=True, exist_ok=True)
    for side, lines in texts.items():
        path = folder / f"{side}.model"
        path.write_bytes(train_model(lines, config | {"vocab_size": vocab_size}))
        write_record(path, 0, 0, {})
    segmenters = {side: Segmenter(folder / f"{side}.model") for side in texts}
    count = len(texts["source"])
    rows = [
        {
            "id": f"toy:{number}",
            "split": "train" if number < count - 40 else "dev" if number < count - 20 else "test",
            "copy": 0,
            **{
                side: " ".join(segmenters[side].pieces(lines[number]))
                for side, lines in texts.items()
            },
        }
        for number in range(count)
    ]
    for shard in range(2):
        write_segments(folder / f"{shard:04d}.parquet", rows[shard::2])
    return Bitext(folder, device=device)


@pytest.fixture(scope="session")
def make_bitext() -> Callable[[Path], Bitext]:
    return write_bitext


@pytest.fixture(scope="session")
def bitext(make_bitext, tmp_path_factory: pytest.TempPathFactory) -> Bitext:
    return make_bitext(tmp_path_factory.mktemp("bitext"))


@pytest.fixture(scope="session")
def trained(bitext: Bitext, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published folder of an undisturbed micro training."""
    output = tmp_path_factory.mktemp("trained") / "model"
    process = bitext.start(output, MICRO)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return output
