"""Train one embedding on one training set, and publish its model folder.

All work happens in a folder of its own that outlives kills; `--output` gets its files only when the
training is complete, and their record (`model.json`) last.
"""

import shutil
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import torch

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device, choose_device
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import (
    copy_file,
    publish_folder,
    unpublish_folder,
    write_json,
)
from workflow_scripts.core.files.file_lock import locked
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import sha256, verify, write_record
from workflow_scripts.core.files.parquet import count_rows, read_rows
from workflow_scripts.core.files.rows import TrainingPairRow
from workflow_scripts.core.files.seal import read_sealed, sealed
from workflow_scripts.core.files.space import explained
from workflow_scripts.core.progress import progress
from workflow_scripts.core.training import work_plan
from workflow_scripts.core.training.loop import CHECKPOINT_SECONDS
from workflow_scripts.encoding import parts
from workflow_scripts.encoding.embedding import UNTRAINED, SentenceEmbeddings, save
from workflow_scripts.encoding.interface import RECORD
from workflow_scripts.stages.embed.correlations import result
from workflow_scripts.stages.embed.evaluation import read_collected, text_keys, without_tested
from workflow_scripts.stages.embed.initial import initial_model
from workflow_scripts.stages.embed.prepared import Pair, key, prepare, read_prepared
from workflow_scripts.stages.embed.sts import model_similarities
from workflow_scripts.stages.embed.sts_readers import (
    DataSet,
    read_data_sets,
    reported_and_development,
)
from workflow_scripts.stages.embed.training import Seeds, Training

# In the work folder.
_PLAN, _PREPARED, _CHECKPOINT = "plan.json", "prepared", "checkpoint.pt"
_COUNTS = "counts.json"


class Task(NamedTuple):
    """What is to be trained.

    Attributes:
        config: `name`, `model`, `training`, `language`, `seed`, and `repetition`, the embedding's
            own seed; `chosen_on`, the data sets that are not reported, if any; `tuned` if its
            training set is a point of a grid that may have no pairs.
        pairs: the training set.
        evaluation: the data sets that it is tested on.
        inputs: SHA-256 of the user's files that are read, by path.
    """

    config: dict[str, Any]
    pairs: Path
    evaluation: Path
    work: Path
    device: str
    inputs: dict[str, str] = {}  # noqa: RUF012 - never changed


class Pairs:
    """The pairs of a training set that may be trained on, and counts of the others."""

    def __init__(self, path: Path, tested: list[DataSet], development: list[DataSet]):
        self._path = path
        self._barred = {
            "in_development": text_keys(development),
            "in_evaluation": text_keys(tested),
        }
        self.rejected: dict[str, int] = {}

    def __iter__(self) -> Iterator[Pair]:
        """Yield (reference, paraphrase); counts are complete when all are read."""
        self.rejected = dict.fromkeys(self._barred, 0)
        for row in read_rows(self._path, TrainingPairRow, ["reference", "paraphrase"]):
            pair = row["reference"], row["paraphrase"]
            keys = {key(sentence) for sentence in pair}
            reasons = [reason for reason, barred in self._barred.items() if keys & barred]
            if reasons:
                self.rejected[reasons[-1]] += 1
            else:
                yield pair


def follow_plan(task: Task) -> None:
    """Keep what an earlier process left in the work folder if it followed the same plan."""
    files = {"pairs": task.pairs, "evaluation": task.evaluation}
    vectors = task.config["model"]["vectors"]
    if vectors is not None:
        files["vectors"] = Path(vectors)
    plan = {
        "config": task.config,
        "device": task.device,
        "inputs": {name: sha256(path) for name, path in files.items()},
    }
    work_plan.follow("embed", task.work / _PLAN, plan)


def check_not_empty(pairs: Pairs, path: Path, earlier: dict[str, int]) -> None:
    """Check that there is a pair to train on.

    Args:
        pairs: of the training set.
        path: its file.
        earlier: the pairs that were left out when it was chosen, by reason.

    Raises:
        InputError: there is none.
    """
    if next(iter(pairs), None) is None:
        left_out = (earlier | pairs.rejected).items()
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in left_out if count)
        raise InputError(
            f"{path}: no pair is left to train on (left out: {reasons or 'none'}); "
            "widen what the training set is chosen by, or paraphrase more references"
        )


def prepare_work(task: Task, pairs: Pairs) -> dict[str, Any]:
    """Write the tokens and the untrained model into the work folder, unless they are there.

    Returns:
        Counts of pairs: `rows_in`, `rejected`; `figures` of a file of vectors, if there is one.
    """
    folder = task.work / _PREPARED
    if not folder.exists():
        unfinished = folder.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        total = count_rows(task.pairs)

        def text() -> Iterator[str]:
            empty = True
            for pair in pairs:
                empty = False
                yield from pair
            if empty:  # a point that is passed over: its model only has to be one
                for data_set in read_collected(task.evaluation):
                    yield from chain.from_iterable(data_set.pairs)

        config, figures = task.config, dict[str, Any]()
        with unchanged(task.inputs):
            model = initial_model(
                config["model"], text, config["seed"], config["repetition"], figures
            )
        rows = progress(pairs, total, "embed: read")
        with explained(folder):
            parts.write(unfinished, model)
            without = prepare(rows, model.tokenisers, unfinished)
        rejected = {**pairs.rejected, "without_tokens": without}
        files = {path.name: sha256(path) for path in sorted(unfinished.iterdir())}
        counts = {"rows_in": total, "rejected": rejected, "figures": figures, "files": files}
        write_json(unfinished / _COUNTS, sealed(counts))
        publish_folder(unfinished, folder)
    return _counts(folder)


def _counts(folder: Path) -> dict[str, Any]:
    """Return the counts in a folder of tokens, all of whose files are as they were written.

    Raises:
        InputError: one of them is damaged.
    """
    path = folder / _COUNTS
    try:
        counts = read_sealed(path)
        for name, digest in counts.get("files", {}).items():  # earlier versions wrote no hashes
            path = folder / name
            if sha256(path) != digest:
                raise ValueError("it differs from what was written")
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} is damaged ({error}); delete {folder} and run again: it is made again"
        ) from error
    return counts


def development_data(task: Task, tested: list[DataSet]) -> tuple[list[DataSet], int]:
    """Return what the best epoch is chosen by, and how many of its pairs are left out.

    Args:
        task: says which data sets; none if the last epoch is taken.
        tested: the data sets that the run tests on. Pairs of those that are reported are left out.
    """
    paths, vectors = task.config["training"]["development"], task.config["model"]["vectors"]
    if not paths:
        return [], 0
    with unchanged(task.inputs, [*paths, *([vectors] if vectors else [])]):
        reported, _ = reported_and_development(tested, task.config.get("chosen_on", []))
        return without_tested(
            read_data_sets(paths, task.config["language"]),
            reported,
            "training.development",
            "take other data to choose the best epoch by, or null, or name the data sets in "
            "sts.development",
        )


def train(task: Task, output: Path, every: float = CHECKPOINT_SECONDS) -> None:
    """Bring the training to its end, from wherever it stands, and publish the model folder.

    Args:
        task: what to train.
        output: the model folder.
        every: seconds between two checkpoints.

    Raises:
        InputError: an input is damaged, or there is nothing to train on.
    """
    config, settings = task.config, task.config["training"]
    earlier = verify(task.pairs)["rejected"]
    tested = read_collected(task.evaluation)
    development, removed = development_data(task, tested)
    with locked(task.work):
        follow_plan(task)
        pairs = Pairs(task.pairs, tested, development)
        if not config.get("tuned", False):
            check_not_empty(pairs, task.pairs, earlier)
        counts = prepare_work(task, pairs)
        folder = task.work / _PREPARED
        model = parts.read(folder)

        def score(current: parts.Parts) -> float:
            embeddings = SentenceEmbeddings(current, task.device)
            similarities = model_similarities(embeddings, development)
            return result(development, similarities)["mean"]["pearson"]

        history: list[dict[str, Any]] = []
        if not config.get("tuned", False) or counts["rows_in"] > sum(counts["rejected"].values()):
            training = Training(
                model,
                read_prepared(folder, model.tokenisers),
                settings,
                Seeds(config["seed"], config["repetition"]),
                task.device,
                score if development else None,
            )
            training.run(task.work / _CHECKPOINT, every)
            history = training.history
        extra = {
            "history": history,
            "development_pairs_tested_on": removed,
            **counts["figures"],
        }
        publish(model, folder / parts.WEIGHTS, counts, extra, task.work / "model", output)
        # What is published needs no checkpoint, and it is as large as the model three times.
        unpublish_folder(folder, folder.with_suffix(".unfinished"))
        (task.work / _CHECKPOINT).unlink(missing_ok=True)


def publish(
    model: parts.Parts,
    untrained: Path,
    counts: dict[str, Any],
    extra: dict[str, Any],
    work: Path,
    output: Path,
) -> None:
    """Write the model folder, file by file, and its record last."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    with explained(work):
        files = [*save(work, model), shutil.copyfile(untrained, work / UNTRAINED)]
    for file in files:
        copy_file(file, output / file.name)
    shutil.rmtree(work)
    rejected = counts["rejected"]
    write_record(
        output / RECORD,
        counts["rows_in"],
        counts["rows_in"] - sum(rejected.values()),
        rejected,
        extra,
        files=[output / file.name for file in files],
    )


def train_embedding(
    config: dict[str, Any],
    pairs: Path,
    evaluation: Path,
    work: Path,
    output: Path,
    inputs: dict[str, str] | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    device: Device = "auto",
    threads: int = 1,
) -> None:
    """Train one sentence embedding.

    Args:
        config: see `Task`.
        pairs: the training set (Parquet).
        evaluation: the STS data (Parquet).
    """
    torch.set_num_threads(threads)
    task = Task(config, pairs, evaluation, work, str(choose_device(device)), inputs or {})
    train(task, output, checkpoint_seconds)


main = command(train_embedding, __name__)
