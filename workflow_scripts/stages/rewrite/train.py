"""Train a rewriter with Sockeye as the stage `train` does, and say what it is: `rewriter.json`."""

import argparse
from pathlib import Path

import torch

from workflow_scripts.core.cli import run
from workflow_scripts.core.device import choose_device
from workflow_scripts.core.files.manifest import shard_paths
from workflow_scripts.stages.rewrite.about import add_options, tell
from workflow_scripts.stages.train.sockeye import Task, make_model


def main(argv: list[str] | None = None) -> None:
    """Train a rewriter, and measure it as any model."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    add_options(parser)
    parser.add_argument("--source-model", type=Path, required=True)
    parser.add_argument("--reference-model", type=Path, required=True)
    options = parser.parse_args(argv)
    task = Task(
        **{key: value for key, value in options.config.items() if key != "about"},
        shards=shard_paths(options.folder, options.shards),
        segmenters={"source": options.source_model, "reference": options.reference_model},
        work=options.work,
        threads=options.threads,
        device=choose_device(options.device).type,
        mxnet_python="",
    )
    torch.set_num_threads(options.threads)
    make_model(task, options.output, tell(options))


if __name__ == "__main__":
    run(main)
