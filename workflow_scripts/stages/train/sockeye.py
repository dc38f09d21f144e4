"""Train one model with Sockeye, or take over a finished one; measure it; publish its folder.

All work happens in a folder of its own that outlives kills; `--output` gets its files only when
the training is complete, and their record (`model.json`) last.
"""

import math
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import torch

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device, choose_device
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.file_lock import locked
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import sha256, shard_paths, verify
from workflow_scripts.core.files.model_folder import SOCKEYE_FILES
from workflow_scripts.core.training.work_plan import remove
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.stages.subword.segmenter import Segmenter
from workflow_scripts.stages.train import (
    arguments,
    curve,
    data,
    folder,
    model_quality,
    plans,
    process,
    snapshots,
    sockeye2,
    sockeye2_model,
    work_folder,
)
from workflow_scripts.stages.train.doubts import ADVICE, doubts
from workflow_scripts.stages.train.plans import read_json
from workflow_scripts.stages.train.publishing import publish_model

MODEL_FILES = (*SOCKEYE_FILES, "version", "args.yaml")


@dataclass
class Task:
    """What the command line asks for; `segmenters` are the two sub-word models by side.

    `backend`: "sockeye", version 3, or "mxnet", version 2 in the interpreter `mxnet_python`.
    `dev_pairs`: the pairs that it is validated on at most, a seeded sample; None: all.
    """

    role: str
    direction: str
    model: dict[str, Any]
    seed: int
    shards: list[Path]
    segmenters: dict[str, Path]
    work: Path
    threads: int
    device: str
    mxnet_python: str
    backend: str = "sockeye"
    dev_pairs: int | None = None


@dataclass
class Result:
    """A finished model in the work folder; `metrics` are those of its training."""

    segmenters: dict[str, Path]
    metrics: dict[str, Any]
    curve: list[dict[str, Any]]
    seconds: float


def follow_plan(task: Task, settings: Any) -> None:
    """Keep what an earlier process left in the work folder if it followed the same plan.

    The plan is all that a model depends on: its settings and the hashes of what it is made of.

    Raises:
        InputError: see `plans.keep`.
    """
    files = [*task.shards, *task.segmenters.values()]
    plan = {
        "device": task.device,
        "direction": task.direction,
        "settings": settings,
        "inputs": {path.name: sha256(path) for path in files},
        **({} if task.dev_pairs is None else {"dev_pairs": task.dev_pairs}),
    }
    finished = (task.work / work_folder.FINISHED).exists()
    begun = not finished and bool(snapshots.snapshots(task.work))
    plans.keep(task.role, task.work, plan, begun)


def train_model(task: Task, lock: IO[bytes]) -> Result:
    """Bring the training in the work folder to its end, from wherever it stands.

    Raises:
        InputError: the training failed or diverged, or there is no interpreter for its backend.
    """
    work = task.work
    block = arguments.complete_block(task.role, task.model)
    on_mxnet = task.backend == "mxnet"
    follow_plan(
        task,
        sockeye2.settings(block, task.seed)
        if on_mxnet
        else {
            "prepare": arguments.prepare_arguments(block),
            "train": arguments.train_arguments(block, task.seed),
            "by_device": arguments.by_device(block),
            "matmul": block["matmul"],
        },
    )
    if not (work / work_folder.COUNTS).exists():
        for name, side in zip(
            (work_folder.SOURCE_VOCABULARY, work_folder.TARGET_VOCABULARY),
            data.sides(task.direction),
            strict=True,
        ):
            write_json(work / name, data.vocabulary(Segmenter(task.segmenters[side])))
        longest = block["max_length"]
        dev = None
        if task.dev_pairs is not None:
            dev = data.dev_sample(task.shards, longest, task.dev_pairs, task.seed)
        data.write_text(task.shards, task.direction, longest, work, ("train", "dev"), dev=dev)
    if not (work / work_folder.FINISHED).exists():
        lines = process.ProgressLines(task.role, block)
        python = sockeye2.find_interpreter(task.mxnet_python) if on_mxnet else sys.executable
        process.run_sockeye(work, lock, lines, task.threads, python)
    finished = read_json(work / work_folder.FINISHED)
    if finished.pop("diverged"):
        raise InputError(
            f"the training of {task.role} diverged at update {finished['updates']}: lower the "
            "model's learning_rate or raise its warmup"
        )
    if on_mxnet and not (work / work_folder.MODEL).exists():
        sockeye2_model.convert(work / work_folder.SOCKEYE2_MODEL, work / work_folder.MODEL)
    metrics = curve.read_metrics(work / work_folder.MODEL / work_folder.METRICS)
    return Result(
        segmenters=task.segmenters,
        metrics=finished,
        curve=curve.curve(metrics, block["checkpoint_updates"], finished["updates"]),
        seconds=float(metrics[-1]["time-elapsed"]),
    )


def take_over_model(task: Task) -> Result:
    """Copy a finished model of the user's own to the work folder, and check it.

    Raises:
        InputError: the folder, or a sub-word model, is not what it should be.
    """
    work = task.work
    paths = folder.check_block(task.role, task.model)
    own = {"source": paths["source_model"], "reference": paths["reference_model"]}
    follow_plan(task, {key: str(path) for key, path in paths.items()})
    folder.copy_model(paths["folder"], work / work_folder.MODEL, MODEL_FILES)
    model = load_model(work / work_folder.MODEL, device=task.device)
    data.write_text(task.shards, task.direction, math.inf, work, ("dev",), ("dev", "test"))
    vocabularies = (model.source_vocab, model.target_vocab)
    for side, (vocabulary, other), names in zip(
        data.sides(task.direction),
        (vocabularies, vocabularies[::-1]),
        (
            (work_folder.DEV_SOURCE, work_folder.TEST_SOURCE),
            (work_folder.DEV_TARGET, work_folder.TEST_TARGET),
        ),
        strict=True,
    ):
        segmenter = Segmenter(own[side])
        folder.check_pieces(side, segmenter, vocabulary, other)
        for name in names:
            folder.rewrite_text(work / name, Segmenter(task.segmenters[side]), segmenter)
    return Result(segmenters=own, metrics={}, curve=[], seconds=0.0)


def measure(task: Task, result: Result) -> dict[str, Any]:
    """Return the metrics of a model: of its training, its size, perplexity and BLEU."""
    counts = read_json(task.work / work_folder.COUNTS)
    if "folder" in task.model:  # the training pairs are not what it was trained on
        counts = {name: count for name, count in counts.items() if not name.startswith("train")}
    target = Segmenter(result.segmenters[data.sides(task.direction)[1]])
    return {
        "role": task.role,
        "direction": task.direction,
        **result.metrics,
        **model_quality.of_work_folder(task.work, task.device, target, counts),
    }


def publish(
    task: Task, result: Result, metrics: dict[str, Any], output: Path, beside: Sequence[str] = ()
) -> None:
    """Publish the finished model in the work folder; see `publish_model`."""
    sources = {name: task.work / work_folder.MODEL / name for name in MODEL_FILES}
    sources |= {f"{side}.model": path for side, path in result.segmenters.items()}
    publish_model(task.role, result.curve, metrics, sources, output, beside)


def tidy(work: Path) -> None:
    """Drop what only resuming needs; what is left is enough to publish the model again."""
    snapshots.drop(work)
    for name in (work_folder.PREPARED, work_folder.SOCKEYE2_MODEL):
        shutil.rmtree(work / name, ignore_errors=True)
    model = work / work_folder.MODEL
    needed = {*MODEL_FILES, work_folder.METRICS, (model / "params.best").resolve().name}
    for path in model.iterdir():
        if path.name not in needed:
            remove(path)


def make_model(task: Task, output: Path, beside: Sequence[str] = ()) -> None:
    """Train or take over a model, measure it, publish its folder and tidy up; see `publish`."""
    for path in [*task.shards, *task.segmenters.values()]:
        verify(path)
    with locked(task.work) as lock:
        result = take_over_model(task) if "folder" in task.model else train_model(task, lock)
        start = time.monotonic()
        metrics = measure(task, result)
        publish(task, result, metrics, output, beside)
        for doubt in doubts(task.role, metrics):
            print(f"warning: {doubt}; {ADVICE}", file=sys.stderr)
        seconds = {"training": result.seconds, "measuring": time.monotonic() - start}
        write_json(output / "timings.json", seconds)
        tidy(task.work)


def train_with_sockeye(
    config: dict[str, Any],
    segments: Path,
    shards: int,
    source_model: Path,
    reference_model: Path,
    work: Path,
    output: Path,
    inputs: dict[str, str] | None = None,
    threads: int = 1,
    device: Device = "auto",
    mxnet_python: str = "",
) -> None:
    """Train one translation model with Sockeye, or take over a finished one, and measure it.

    Args:
        config: of the unit; see `Task`.
        segments: the folder of the shards of segments.
        source_model: SentencePiece's.
        reference_model: SentencePiece's.
        mxnet_python: the interpreter of the backend mxnet, or the record of rule train_mxnet.

    Raises:
        InputError: see `unchanged`, `train_model` and `take_over_model`.
    """
    task = Task(
        **config,
        shards=shard_paths(segments, shards),
        segmenters={"source": source_model, "reference": reference_model},
        work=work,
        threads=threads,
        device=choose_device(device).type,
        mxnet_python=mxnet_python,
    )
    torch.set_num_threads(threads)
    with unchanged(inputs or {}):
        make_model(task, output)


main = command(train_with_sockeye, __name__)
