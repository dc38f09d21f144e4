"""Run Sockeye's data preparation and training in a work folder; started by `train.sockeye`.

Sockeye itself stays as it is; this module adds what it lacks to resume exactly. Sockeye 2 on MXNet
is run by this module as well. Its Python is 3.8, without torch: this module, and what it imports,
must run there too.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import threading
from pathlib import Path
from typing import Any

from sockeye import arguments, data_io, prepare_data, train

from workflow_scripts.core.files.atomic import atomic_path, publish_folder, sync_tree
from workflow_scripts.stages.train import snapshots, work_folder
from workflow_scripts.stages.train.kernels import use_fast_kernels


def resume_at_the_next_batch() -> None:
    """Make a resumed training bit-identical to an undisturbed one.

    Sockeye's `ParallelSampleIter.load_state` steps back by one batch, but `save_state` had saved
    the index of the batch that comes next: the last batch before the checkpoint would be trained
    on twice, and every later one would come one update late.
    """
    original = data_io.ParallelSampleIter.load_state

    def load_state(self: data_io.ParallelSampleIter, fname: str) -> None:
        original(self, fname)
        self.curr_batch_index += 1

    data_io.ParallelSampleIter.load_state = load_state


def end_with_parent() -> None:
    """End this process when its parent is gone, also by kill -9.

    Our standard input is a pipe that the parent never writes to: it ends with the parent. An
    orphan would go on writing into the work folder while its successor trains there.
    """

    def watch() -> None:
        os.read(sys.stdin.fileno(), 1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _parse(add_arguments: Any, words: list[str]) -> argparse.Namespace:
    parser = arguments.ConfigArgumentParser()
    add_arguments(parser)
    return parser.parse_args(words)


def prepare(words: list[str]) -> None:
    """Turn the training text into Sockeye's tensors, unless that is done; then drop the text."""
    if not Path(work_folder.PREPARED).exists():
        shutil.rmtree(work_folder.PREPARED_UNFINISHED, ignore_errors=True)
        prepare_data.prepare_data(_parse(arguments.add_prepare_data_cli_args, words))
        publish_folder(Path(work_folder.PREPARED_UNFINISHED), Path(work_folder.PREPARED))
    for name in (work_folder.TRAIN_SOURCE, work_folder.TRAIN_TARGET):
        Path(name).unlink(missing_ok=True)


def run_training(words: list[str]) -> None:
    """Train from the newest snapshot, or from the start, to the end."""
    resume_at_the_next_batch()
    options = _parse(arguments.add_train_cli_args, words)
    work, model = Path(), Path(options.output)
    snapshots.restore(work, model)
    state = train.train(
        options,
        checkpoint_callback=lambda checkpoint: snapshots.take(work, model, checkpoint),
    )
    finished = {
        "updates": state.updates,
        "epochs": state.epoch,
        "checkpoints": state.checkpoint,
        "best_checkpoint": state.best_checkpoint,
        "diverged": bool(state.diverged),
    }
    sync_tree(model)  # of which the next file speaks
    with atomic_path(work_folder.FINISHED) as temporary:
        temporary.write_text(json.dumps(finished), encoding="utf-8")


def main() -> None:
    """Work in the folder that is the only argument, by its plan."""
    end_with_parent()
    os.chdir(sys.argv[1])
    plan = json.loads(Path(work_folder.PLAN).read_text(encoding="utf-8"))
    settings = plan["settings"]
    if "matmul" in settings:  # MXNet leaves no such choice
        use_fast_kernels(settings["matmul"], plan["device"])
    prepare(settings["prepare"])
    run_training(settings["train"] + settings["by_device"][plan["device"]])


if __name__ == "__main__":
    main()
