"""Train a rewriter with Sockeye as the stage `train` does, and say what it is: `rewriter.json`."""

from pathlib import Path
from typing import Any

import torch

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device, choose_device
from workflow_scripts.core.files.manifest import shard_paths
from workflow_scripts.stages.rewrite.about import tell
from workflow_scripts.stages.train.sockeye import Task, make_model


def train_rewriter(
    config: dict[str, Any],
    segments: Path,
    shards: int,
    pairs: Path,
    source_model: Path,
    reference_model: Path,
    work: Path,
    output: Path,
    templates: Path | None = None,
    threads: int = 1,
    device: Device = "auto",
) -> None:
    """Train a rewriter, and measure it as any model.

    Args:
        segments: the folder of the shards of segments.
        pairs: the manifest of its pairs.
        source_model: SentencePiece's.
        reference_model: SentencePiece's.
        templates: the table of the templates that it learns.
    """
    task = Task(
        **{key: value for key, value in config.items() if key != "about"},
        shards=shard_paths(segments, shards),
        segmenters={"source": source_model, "reference": reference_model},
        work=work,
        threads=threads,
        device=choose_device(device).type,
        mxnet_python="",
    )
    torch.set_num_threads(threads)
    make_model(task, output, tell(config["about"], pairs, templates, output))


main = command(train_rewriter, __name__)
