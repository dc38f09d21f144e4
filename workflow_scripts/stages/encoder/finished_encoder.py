"""The folder of a finished encoder: its files in Hugging Face's form, its figures, its record."""

import shutil
from pathlib import Path
from typing import Any

from workflow_scripts.core.files.atomic import copy_file, write_json
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.space import explained
from workflow_scripts.encoding.interface import RECORD
from workflow_scripts.encoding.pretrained import save
from workflow_scripts.stages.encoder.results import METRICS

# In the work folder.
CHECKPOINT = "checkpoint.pt"


def publish(
    model: Any,
    tokenizer: Any,
    metrics: dict[str, Any],
    rows: tuple[int, dict[str, int]],
    work: Path,
    output: Path,
) -> None:
    """Write the folder of an encoder, file by file, and its record last.

    Args:
        model: of transformers, trained.
        tokenizer: the one that it was trained with.
        metrics: what is said of the training.
        rows: how many were read, and how many of them were left out, by reason.
        work: a folder for the files meanwhile.
        output: the folder.
    """
    folder = work / "model"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with explained(folder):
        files = save(model.to("cpu"), tokenizer, folder)
    names = [file.relative_to(folder) for file in files]
    for name in names:
        copy_file(folder / name, output / name)
    write_json(output / METRICS, metrics)
    read, rejected = rows
    write_record(
        output / RECORD,
        read,
        read - sum(rejected.values()),
        rejected,
        files=[output / METRICS, *(output / name for name in names)],
    )
    # What is published needs no checkpoint, which is as large as the model three times.
    shutil.rmtree(folder)
    (work / CHECKPOINT).unlink(missing_ok=True)
