"""Fine-tune an encoder for one task, with one seed, and test it: a job that can be interrupted."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device, choose_device
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import remove_folder, write_json, write_text
from workflow_scripts.core.files.file_lock import locked
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.files.seal import canonical
from workflow_scripts.core.seeding import generator
from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.core.training.work_plan import read_json
from workflow_scripts.encoding.interface import RECORD
from workflow_scripts.encoding.pretrained import file_hashes
from workflow_scripts.encoding.sentence_vectors import encoder_folder
from workflow_scripts.plan.catalogues.encoder_tasks import ENCODER_TASKS
from workflow_scripts.plan.schema import definition, filled
from workflow_scripts.stages.encoder.tasks.disjoint_parts import folds
from workflow_scripts.stages.encoder.tasks.examples import Pair, Question, TaskData
from workflow_scripts.stages.encoder.tasks.problems import Rows, task_of
from workflow_scripts.stages.encoder.training import Fitting

# The share of what is learnt from that a learning rate is chosen on where there is nothing else.
_CHOOSING_PARTS = 10

# The keys of `encoder_tasks` that a tuning follows from.
SETTINGS = (
    "epochs",
    "batch",
    "learning_rates",
    "warmup",
    "weight_decay",
    "precision",
    "length",
    "span_length",
    "stride",
    "folds",
)

Examples = Sequence[Pair] | Sequence[Question]


class Tuning:
    """One encoder, one task, one seed.

    What is trained in several steps (folds, learning rates) keeps each finished step in `work`.
    """

    def __init__(
        self,
        encoder: Path,
        task: str,
        settings: dict[str, Any],
        seed: int,
        work: Path,
        device: str = "cpu",
    ):
        """Prepare.

        `about` is what the answers follow from beside the data: the encoder's files, the settings.

        Args:
            encoder: a folder in Hugging Face's form.
            task: its name.
            settings: the keys `SETTINGS` of `encoder_tasks`.
            seed: of the new layer, the order, dropout and the folds.
            work: folder of what is kept meanwhile.
            device: for torch.
        """
        self._encoder, self.seed, self._work, self._device = encoder, seed, work, device
        self._settings = settings
        self.task = task_of(task, settings)
        self.about = {"encoder": file_hashes(encoder), "settings": settings}
        self._plan = {**self.about, "task": task, "seed": seed, "device": device}

    def tested(self, data: TaskData[Any]) -> dict[str, Any]:
        """Return what the tuned encoder answers in the parts of a task that are reported.

        Returns:
            `parts`, by name their `rows` (example by example), `figures` and whether they
            are `in_folds`; and `choices`, the learning rates that were taken.
        """
        parts: dict[str, Any] = {}
        choices: list[float] = []
        if data.in_folds:
            ((part, examples),) = data.tested.items()
            parts[part], choices = self._in_folds(examples)
        else:
            rate = self._chosen("all", data.train, data.development)
            choices.append(rate)
            rows = self._step("all", rate, data.train, list(data.tested.values()))
            parts = dict(zip(data.tested, rows, strict=True))
        return {
            "choices": choices,
            "parts": {
                name: {
                    "rows": rows,
                    "figures": self.task.figures(self.task.scored(rows)),
                    "in_folds": data.in_folds,
                }
                for name, rows in parts.items()
            },
        }

    def _in_folds(self, examples: Examples) -> tuple[Rows, list[float]]:
        """Return what is answered to each example after the training on other folds."""
        chosen = folds(examples, self._settings["folds"], self.seed)
        gathered: list[tuple[NDArray[np.int64], Rows]] = []
        rates = []
        for number, fold in enumerate(chosen):
            rest = np.setdiff1d(np.arange(len(examples)), fold)
            learnt, asked = ([examples[place] for place in places] for places in (rest, fold))
            rates.append(self._chosen(f"fold-{number}", learnt, []))
            (answers,) = self._step(f"fold-{number}", rates[-1], learnt, [asked])
            gathered.append((fold, answers))
        order = np.argsort(np.concatenate([fold for fold, _ in gathered]))
        names = gathered[0][1]
        together = {name: [row for _, part in gathered for row in part[name]] for name in names}
        rows = {name: [values[place] for place in order] for name, values in together.items()}
        return rows, rates

    def _chosen(self, name: str, train: Examples, development: Examples) -> float:
        """Return the learning rate that is best on data that is not reported.

        These are the development data, or a tenth of what is learnt from, which a later training
        has again. Of equal rates the first is taken.
        """
        rates = self._settings["learning_rates"]
        if len(rates) == 1:
            return rates[0]
        if not development:
            held = folds(train, _CHOOSING_PARTS, self.seed)[0]
            rest = np.setdiff1d(np.arange(len(train)), held)
            train, development = (
                [train[place] for place in rest],
                [train[place] for place in held],
            )
        reached = []
        for rate in rates:
            (rows,) = self._step(f"{name}-choice-{rate:g}", rate, train, [development])
            reached.append(self.task.figures(self.task.scored(rows))[self.task.main])
        return rates[int(np.argmax(reached))]

    def _step(
        self, name: str, rate: float, train: Examples, tested: Sequence[Examples]
    ) -> list[Rows]:
        """Train on some examples and answer others; a finished step is read instead."""
        plan = {
            **self._plan,
            "rate": rate,
            "examples": [_digest(examples) for examples in (train, *tested)],
        }
        path = self._work / f"{name}.json"
        if path.exists():
            done = read_json(path)
            if done["plan"] == plan:
                return done["rows"]
        model = self.task.open(self._encoder, self._number("layer"))
        prepared = self.task.prepare(self._encoder, model, train)
        checkpoint = self._work / f"{name}.pt"
        Fitting(
            model,
            prepared.inputs,
            prepared.lengths,
            {**self._settings, "learning_rate": rate},
            lambda *what: generator(self.seed, "encoder_tasks", self.task.name, *what),
            self._device,
            loss=self.task.loss,
            plan=plan,
            desc=f"encoder: {self.task.name}, {name}",
        ).run(checkpoint)
        rows = [
            self.task.answer(
                model, part, self.task.prepare(self._encoder, model, part), self._device
            )
            for part in tested
        ]
        write_json(path, {"plan": plan, "rows": rows})
        checkpoint.unlink(missing_ok=True)
        return rows

    def _number(self, what: str) -> int:
        """Return the seed of one thing, the same for every encoder."""
        return int(generator(self.seed, "encoder_tasks", self.task.name, what).integers(2**62))


def _digest(examples: Examples) -> str:
    return hashlib.sha256(canonical([list(example) for example in examples]).encode()).hexdigest()


def tune(
    encoder: Path,
    task: str,
    data: Path,
    settings: dict[str, Any],
    seed: int,
    output: Path,
    device: str = "cpu",
) -> None:
    """Write what a tuned encoder answers in a task, one example a line, and its record.

    Args:
        encoder: a folder in Hugging Face's form.
        task: its name.
        data: the folder of the task.
        settings: see `Tuning`.
        seed: of all that is random.
        output: JSON lines: `part`, and the example's rows (`Task.answer`). The record has `task`,
            `seed`, `encoder` (the hashes of its files), `settings`, `data` (the hashes of its
            parts), `counts` of the data, `choices` of learning rates, and by part `figures` and
            whether it is tested `in_folds`.
        device: for torch.

    Raises:
        InputError: the encoder or the data are not what they should be, or training diverged.
    """
    work = output.parent / "work" / output.stem
    with locked(work):
        _tune(Tuning(encoder, task, settings, seed, work, device), data, output)
    remove_folder(work)


def _tune(tuning: Tuning, data: Path, output: Path) -> None:
    read = tuning.task.read(data)
    examples_of = {"train": read.train, "development": read.development, **read.tested}
    for part, examples in examples_of.items():
        _require_two(f"{tuning.task.name}, {part}: {data}", examples)
    tested = tuning.tested(read)
    parts = tested.pop("parts")
    lines = [
        json.dumps({"part": part, **row}, ensure_ascii=False, allow_nan=False)
        for part, block in parts.items()
        for row in rows_of(block.pop("rows"))
    ]
    write_text(output, "".join(f"{line}\n" for line in lines))
    about = {"task": tuning.task.name, "seed": tuning.seed, **tuning.about, "counts": read.counts}
    about["data"] = {part: _digest(examples) for part, examples in examples_of.items()}
    write_record(output, len(lines), len(lines), {}, extra={**about, "parts": parts, **tested})


def _require_two(where: str, examples: Examples) -> None:
    """Refuse pairs that all have the same label or score."""
    golds = {example.gold for example in examples if isinstance(example, Pair)}
    if len(golds) == 1:
        raise InputError(
            f"{where}: all {len(examples)} pairs have the label or score {golds.pop():g}, so "
            "nothing can be told apart; get the data again"
        )


def rows_of(columns: Rows) -> Iterator[dict[str, Any]]:
    """Yield the rows of columns."""
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _require_known(task: str, settings: dict[str, Any]) -> None:
    """Refuse a task, or keys, that `encoder_tasks` does not have; the rules give `base` besides."""
    if task not in ENCODER_TASKS:
        raise InputError(f"--task: '{task}' is none of {', '.join(ENCODER_TASKS)}")
    known = [*definition("encoder_tasks")["properties"], "base"]
    for key in settings:
        if key not in known:
            raise InputError(f"--config: unknown key '{key}'{suggestion(key, known)}")


def tune_for_task(
    task: str,
    data: Path,
    seed: int,
    output: Path,
    encoder: Path | None = None,
    config: dict[str, Any] | None = None,
    inputs: dict[str, str] | None = None,
    device: Device = "auto",
    threads: int = 1,
) -> None:
    """Fine-tune an encoder for one task, with one seed, and test it.

    Args:
        task: its name.
        data: folder of the task.
        seed: of all that is random.
        output: JSON lines; see `tune`.
        encoder: its folder; else the config's `base` says it.
        config: keys of `encoder_tasks`; those that it lacks have their defaults.

    Raises:
        InputError: there is no such task, key or encoder; or see `tune`.
    """
    torch.set_num_threads(threads)
    _require_known(task, config or {})
    settings = filled(config or {}, "encoder_tasks")
    if encoder is None:
        if "base" not in settings:
            raise InputError("--encoder: name the folder of the encoder")
        encoder = encoder_folder(settings["base"])
    if (encoder / f"{RECORD}.json").exists():  # a unit of a run
        verify(encoder / RECORD)
    task_settings = {name: settings[name] for name in SETTINGS}
    with unchanged(inputs or {}):
        tune(encoder, task, data, task_settings, seed, output, str(choose_device(device)))


main = command(tune_for_task, __name__)
