"""Test one model on transfer tasks.

paraloom evaluate transfer --model FOLDER --data FOLDER

Prints one JSON object: {"tasks": {task: {"metric", "value", "low", "high", ...}}, "missing", ...}.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from workflow_scripts.core.cli import CommandParser, count, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.seal import read_sealed, sealed
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.encoding.sentence_vectors import encoder_folder
from workflow_scripts.stages.transfer.collect import described
from workflow_scripts.stages.transfer.protocol import (
    ADAM,
    SKLEARN,
    VERSION,
    Answers,
    Settings,
    answers,
)
from workflow_scripts.stages.transfer.representations import (
    Representation,
    bag_of_words,
    encoder,
    hashed,
    model,
    task_identity,
    word_vectors,
)
from workflow_scripts.stages.transfer.senteval_readers import TaskData, read_task
from workflow_scripts.stages.transfer.task_figures import figures
from workflow_scripts.stages.transfer.tasks import TASKS, chosen, missing

# numpy takes no greater seed.
_SEEDS = 1 << 32


def read_tasks(folders: Sequence[str | Path], names: Sequence[str] | None) -> list[TaskData]:
    """Return the tasks in folders of SentEval's layout; stderr says what is missing.

    Raises:
        InputError: see `tasks.chosen` and `senteval_readers.read_task`.
    """
    files = chosen(folders, names)
    if absent := missing(files):
        print(f"transfer: not in the data, or not asked for: {', '.join(absent)}", file=sys.stderr)
    return [read_task(TASKS[name], parts) for name, parts in files.items()]


def tested(
    data: TaskData, representation: Representation, settings: Settings, work: Path | None
) -> Answers:
    """Return what is predicted with a representation; what `work` has is not done again.

    Args:
        data: the task.
        representation: of its sentences. Bags of words get scikit-learn's classifier in any case.
        settings: of the protocol.
        work: folder for vectors and answers, under the hashes of all that they follow from; None:
            nothing is kept.
    """
    if representation.sparse:
        settings = settings._replace(classifier=SKLEARN)
    key = hashed(VERSION, representation.identity, task_identity(data), list(settings))
    path = work / f"answers-{key}.json" if work else None
    if path and (known := _known(path)):
        return known
    started = time.process_time()
    answered = answers(data, encoder(representation, data, work, settings.scaled), settings)
    seconds = time.process_time() - started
    print(f"transfer: {data.task}: {seconds:.1f} seconds of processor time", file=sys.stderr)
    if path:
        grades = [None if np.isnan(grade) else float(grade) for grade in answered.found]
        write_json(path, sealed({**answered._asdict(), "found": grades}))
    return answered


def _known(path: Path) -> Answers | None:
    try:
        record = read_sealed(path)
        predicted = np.array([np.nan if grade is None else grade for grade in record["found"]])
        return Answers(predicted, record["development"], record["chosen"], record["score"])
    except (OSError, ValueError, KeyError):
        return None  # there is none, or it is damaged: it is made again


def over_seeds(figures: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of one task over the classifier's seeds.

    Values and the ends of intervals are means, None where a seed has none; `by_seed` has the
    values, and `chosen` is that of the first seed.
    """
    mean: dict[str, float | None] = {}
    for key in figures[0]:
        of_seeds: list[Any] = [one.get(key) for one in figures]
        if None in of_seeds:
            mean[key] = None
        elif isinstance(of_seeds[0], float):
            mean[key] = round(fmean(of_seeds), DECIMALS)
    return {**figures[0], **mean, "by_seed": [one["value"] for one in figures]}


def limit_threads() -> None:
    """Compute with one thread: sums depend on their number."""
    torch.set_num_threads(1)
    threadpool_limits(1)


def _representation(options: argparse.Namespace, tasks: Sequence[TaskData]) -> Representation:
    if options.untrained and not options.model:
        raise InputError("--untrained goes with --model; leave it out")
    if options.vectors:
        return word_vectors(options.vectors, tasks)
    if options.bag_of_words:
        return bag_of_words()
    return model(options.model or encoder_folder(), options.untrained)


def main(argv: list[str] | None = None) -> None:
    """Print what one representation of sentences reaches in the transfer tasks, as JSON."""
    parser = CommandParser(description=main.__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--model", type=Path, help="folder of an embedding, or of a model of sentence-transformers"
    )
    what.add_argument("--encoder", action="store_true", help="the one that make setup installs")
    what.add_argument("--vectors", type=Path, help="file of word vectors, which are averaged")
    what.add_argument("--bag-of-words", action="store_true")
    parser.add_argument("--untrained", action="store_true", help="the model as it was untrained")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="SentEval's layout")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, help="these alone")
    parser.add_argument("--classifier", choices=(ADAM, SKLEARN), default=ADAM)
    parser.add_argument(
        "--scaled",
        action="store_true",
        help="scale vectors to a mean square of 1 (docs/transfer.md)",
    )
    parser.add_argument("--folds", type=int, default=10, help="of cross-validation (10)")
    parser.add_argument("--seeds", type=count, nargs="+", default=[1111], help="(1111)")
    parser.add_argument("--bootstrap", type=count, default=1000, help="samples (1000)")
    parser.add_argument("--work", type=Path, help="folder for vectors and answers, kept")
    options = parser.parse_args(argv)
    if options.folds < 2:
        raise InputError("--folds: at least 2 are needed")
    if max(options.seeds) >= _SEEDS:
        raise InputError(f"--seeds: {max(options.seeds)} is too great; a seed is below 2^32")
    if options.bootstrap < 1:
        raise InputError("--bootstrap: at least 1 sample is needed")
    limit_threads()
    tasks = read_tasks(options.data, options.tasks)
    representation = _representation(options, tasks)
    by_task = {
        data.task: over_seeds(
            [
                figures(
                    data, tested(data, representation, settings, options.work), options.bootstrap, 1
                )
                for seed in options.seeds
                for settings in [Settings(options.classifier, options.folds, seed, options.scaled)]
            ]
        )
        for data in tasks
    }
    print(
        json.dumps(
            {
                "tasks": by_task,
                "data": {data.task: described(data) for data in tasks},
                "missing": missing(by_task),
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    run(main)
