"""Train a rewriter on from a translation model of any kind, which keeps its kind.

The model is made to read the language that it writes, and learns the pairs of the rewriter. All
work happens in a folder of its own that outlives kills, as in `train.sockeye`.
"""

import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device, choose_device
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import publish_folder, write_json
from workflow_scripts.core.files.file_lock import locked
from workflow_scripts.core.files.manifest import record_path, sha256, shard_paths, verify
from workflow_scripts.core.files.model_folder import model_files
from workflow_scripts.nmt.memory import keep_freed_memory
from workflow_scripts.nmt.monolingual import write_monolingual
from workflow_scripts.nmt.saving import save_model
from workflow_scripts.nmt.trainable import Trainable
from workflow_scripts.plan.schema import filled
from workflow_scripts.stages.rewrite.about import tell
from workflow_scripts.stages.rewrite.training import Training
from workflow_scripts.stages.subword.segmenter import Segmenter
from workflow_scripts.stages.train import data, model_quality, plans, work_folder
from workflow_scripts.stages.train.doubts import ADVICE, doubts
from workflow_scripts.stages.train.kernels import use_fast_kernels
from workflow_scripts.stages.train.publishing import RECORD, publish_model

# In the work folder: the model that the training begins with, and where it stands.
_BEGINNING = "beginning"
_STATE = "state.pt"
_TEXT_MODELS = ("source.model", "reference.model")


@dataclass
class Task:
    """What the command line asks for.

    `settings`: the block `continued`; `start`: the folder of the model that it begins with;
    `shards`: of segments, cut by that model's text model of the language, `reference.model`.
    """

    role: str
    settings: dict[str, Any]
    seed: int
    start: Path
    shards: list[Path]
    work: Path
    device: str

    @property
    def text_model(self) -> Path:
        """The SentencePiece model of the language."""
        return self.start / "reference.model"


def train_on(task: Task) -> Training:
    """Bring the training in the work folder to its end, from wherever it stands.

    Raises:
        InputError: the model can't be trained on, there is nothing to train on, or it diverged.
    """
    work, settings = task.work, task.settings
    files = [*task.shards, record_path(task.start / RECORD)]
    plan = {
        "device": task.device,
        "settings": settings,
        "seed": task.seed,
        "inputs": {path.name: sha256(path) for path in files},
    }
    begun = (work / _STATE).exists() and not (work / work_folder.FINISHED).exists()
    plans.keep(task.role, work, plan, begun)
    if not (work / work_folder.COUNTS).exists():
        data.write_text(task.shards, "forward", settings["max_length"], work, ("train", "dev"))
    if not (work / _BEGINNING).exists():
        unfinished = work / f"{_BEGINNING}.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        write_monolingual(task.start, unfinished)
        publish_folder(unfinished, work / _BEGINNING)
    trainable = Trainable(work / _BEGINNING, torch.device(task.device))
    model = trainable.model()
    longest = min(model.max_source_pieces, model.max_target_pieces)
    if settings["max_length"] > longest:
        raise InputError(
            f"continued.max_length of {task.role} is {settings['max_length']}, but the model reads "
            f"and writes at most {longest} pieces: lower it"
        )
    train = work / work_folder.TRAIN_SOURCE, work / work_folder.TRAIN_TARGET
    dev = work / work_folder.DEV_SOURCE, work / work_folder.DEV_TARGET
    training = Training(
        task.role,
        trainable,
        settings,
        train=model_quality.read_ids(model, train),
        dev=model_quality.read_ids(model, dev),
        seed=task.seed,
    )
    training.run(work / _STATE)
    if not (work / work_folder.FINISHED).exists():
        target = work / work_folder.MODEL
        target.mkdir(exist_ok=True)
        beginning = work / _BEGINNING
        save_model(beginning, model_files(beginning), trainable.tensors, target)
        write_json(work / work_folder.FINISHED, {"updates": training.updates})
    return training


def measure(task: Task, training: Training) -> dict[str, Any]:
    """Return the metrics of the model, as those of a trained one, and its kind."""
    counts = plans.read_json(task.work / work_folder.COUNTS)
    segmenter = Segmenter(task.text_model)
    return {
        "role": task.role,
        "direction": "forward",
        "kind": model_files(task.work / work_folder.MODEL).kind,
        "updates": training.updates,
        "epochs": training.history[-1]["epoch"],
        "checkpoints": len(training.history),
        "best_checkpoint": training.best_point() + 1,
        **model_quality.of_work_folder(task.work, task.device, segmenter, counts),
    }


def publish(
    task: Task,
    curve: list[dict[str, Any]],
    metrics: dict[str, Any],
    output: Path,
    beside: Sequence[str],
) -> None:
    """Publish the model in the work folder; see `publish_model`."""
    sources = dict.fromkeys(_TEXT_MODELS, task.text_model)
    sources |= {path.name: path for path in sorted((task.work / work_folder.MODEL).iterdir())}
    publish_model(task.role, curve, metrics, sources, output, beside)


def make_model(task: Task, output: Path, beside: Sequence[str] = ()) -> None:
    """Train the model on, measure it and publish its folder; `beside`: see `publish_model`."""
    for path in [*task.shards, task.start / RECORD]:
        verify(path)
    with locked(task.work):
        training = train_on(task)
        start = time.monotonic()
        metrics = measure(task, training)
        publish(task, training.history, metrics, output, beside)
        for doubt in doubts(task.role, metrics):
            print(f"warning: {doubt}; {ADVICE}", file=sys.stderr)
        seconds = {"training": training.seconds, "measuring": time.monotonic() - start}
        write_json(output / "timings.json", seconds)


def continue_rewriter(
    config: dict[str, Any],
    segments: Path,
    shards: int,
    pairs: Path,
    model: Path,
    work: Path,
    output: Path,
    templates: Path | None = None,
    threads: int = 1,
    device: Device = "auto",
) -> None:
    """Train a rewriter on from a translation model, and measure it.

    Args:
        segments: the folder of the shards of segments.
        pairs: the manifest of its pairs.
        model: the folder of the model to go on from.
        templates: the table of the templates that it learns.
    """
    task = Task(
        role=config["role"],
        settings=filled(config["continued"], "continued"),
        seed=config["seed"],
        start=model,
        shards=shard_paths(segments, shards),
        work=work,
        device=choose_device(device).type,
    )
    torch.set_num_threads(threads)
    use_fast_kernels(task.settings["matmul"], task.device)
    keep_freed_memory()
    make_model(task, output, tell(config["about"], pairs, templates, output))


main = command(continue_rewriter, __name__)
