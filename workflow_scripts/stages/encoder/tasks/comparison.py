"""Compare what an encoder reaches in the tasks before and after it was tuned on paraphrases.

Figures are means over seeds; beside them stand the deviation over seeds, and 95 % intervals of a
bootstrap over the examples, paired: each sample has the same examples for both and for all seeds.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.seeding import generator
from workflow_scripts.core.statistics.bootstrap import interval
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.plan.catalogues.encoder_tasks import ENCODER_TASKS, PLAIN_STATE, TUNED_STATE
from workflow_scripts.stages.encoder.tasks.problems import Rows, Task, task_of

# What must be the same in all answers to a part.
_OF_EXAMPLES = ("gold", "id", "has_answer")


class Answers(NamedTuple):
    """What one encoder, tuned for a task with one seed, answered.

    Attributes:
        task, seed: which.
        encoder: the hashes of its files.
        settings: that it was tuned with.
        data: the hashes of its parts.
        counts: of the data.
        choices: the learning rates that were taken.
        in_folds: by part, whether it was tested in folds.
        rows: by part, of each example.
    """

    task: str
    seed: int
    encoder: dict[str, str]
    settings: dict[str, Any]
    data: dict[str, str]
    counts: dict[str, dict[str, int]]
    choices: list[float]
    in_folds: dict[str, bool]
    rows: dict[str, Rows]


def read_answers(path: Path) -> Answers:
    """Return the answers that `tuning.tune` wrote, after checking them.

    Raises:
        InputError: the file is damaged.
    """
    about = verify(path.with_suffix(".json"))["extra"]
    rows: dict[str, Rows] = {part: {} for part in about["parts"]}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            part = rows[row.pop("part")]
            for name, value in row.items():
                part.setdefault(name, []).append(value)
    in_folds = {part: block["in_folds"] for part, block in about["parts"].items()}
    # Answers that an earlier version wrote lack these.
    encoder, settings = about.get("encoder", {}), about.get("settings", {})
    return Answers(
        about["task"],
        about["seed"],
        encoder,
        settings,
        about.get("data", {}),
        about["counts"],
        about["choices"],
        in_folds,
        rows,
    )


def _require_one_encoder(state: str, answers: Sequence[Answers]) -> None:
    """Refuse answers of one state that are of several encoders, or of one seed twice."""
    first = answers[0]
    for before, later in pairwise(answers):
        if later.encoder != first.encoder:
            raise InputError(
                f"{first.task}: of the {state} encoder, the answers with seed {first.seed} and "
                f"those with seed {later.seed} are of different encoders; give those of one"
            )
        if later.seed == before.seed:
            raise InputError(
                f"{first.task}: of the {state} encoder, the answers with seed {later.seed} are "
                "there twice; give them once"
            )


def _require_same(answers: Sequence[Answers]) -> None:
    first = answers[0]
    for later in answers[1:]:
        if later.settings != first.settings:
            raise InputError(
                f"{first.task}: the answers with seed {first.seed} and those with seed "
                f"{later.seed} are of encoders that were tuned with different settings; make them "
                "again"
            )
        if part := _differing(first, later):
            raise InputError(
                f"{first.task}, {part}: the answers with seed {first.seed} and those with "
                f"seed {later.seed} are of different data; make them again"
            )


def _differing(one: Answers, other: Answers) -> str | None:
    """Return a part that is not the same in two sets of answers, what is learnt from too."""
    for part in {**one.data, **one.rows}:
        rows, others = (answers.rows.get(part, {}) for answers in (one, other))
        same = all(rows.get(name) == others.get(name) for name in _OF_EXAMPLES)
        if not same or one.data.get(part) != other.data.get(part):
            return part
    return None


def _summary(
    values: NDArray[np.float64], drawn: NDArray[np.float64]
) -> dict[str, float | list[float] | None]:
    """Return mean, interval and deviation of a measure.

    Args:
        values: shape (seeds,).
        drawn: its means in bootstrap samples, shape (samples,).
    """
    return {
        "value": round(float(values.mean()), DECIMALS),
        **interval(drawn),
        "deviation": round(float(values.std(ddof=1)), DECIMALS) if len(values) > 1 else None,
        "seeds": [round(float(value), DECIMALS) for value in values],
    }


def compared_part(
    task: Task[Any], states: Mapping[str, Sequence[Rows]], samples: int, seed: int
) -> dict[str, Any]:
    """Return the measures of a part.

    Args:
        task: which.
        states: the rows of each seed, by state of the encoder: plain and tuned.
        samples: of the bootstrap.
        seed: of its draws.

    Returns:
        By measure, for each state its `value`, `low`, `high`, `deviation` and `seeds`; and `gain`
        with `value`, `low` and `high` of tuned minus plain.
    """
    scored = {
        state: [
            {name: np.asarray(values) for name, values in task.scored(rows).items()}
            for rows in of_state
        ]
        for state, of_state in states.items()
    }
    whole = {state: [task.figures(rows) for rows in of_state] for state, of_state in scored.items()}
    count = len(next(iter(next(iter(scored.values()))[0].values())))
    random = generator(seed, "encoder_tasks", "bootstrap")
    drawn: dict[str, dict[str, list[float]]] = {state: {} for state in states}
    for _ in range(samples):
        chosen = random.integers(count, size=count)
        for state, of_state in scored.items():
            of_seeds = [
                task.figures({name: values[chosen] for name, values in rows.items()})
                for rows in of_state
            ]
            for name in whole[state][0]:
                # A rare type of SQuAD's questions may be missing in a sample.
                mean = np.mean([figures.get(name, np.nan) for figures in of_seeds])
                drawn[state].setdefault(name, []).append(float(mean))
    measures: dict[str, Any] = {}
    for name in next(iter(whole.values()))[0]:
        of_states = {
            state: (
                np.array([figures[name] for figures in whole[state]]),
                np.array(drawn[state][name]),
            )
            for state in states
        }
        known = ~np.isnan(next(iter(of_states.values()))[1])
        measures[name] = {
            state: _summary(values, sampled[known])
            for state, (values, sampled) in of_states.items()
        }
        (plain, one), (tuned, other) = (of_states[state] for state in (PLAIN_STATE, TUNED_STATE))
        measures[name]["gain"] = {
            "value": round(float(tuned.mean() - plain.mean()), DECIMALS),
            **interval((other - one)[known]),
        }
    return measures


def compare(answers: Mapping[str, Sequence[Answers]], config: dict[str, Any]) -> dict[str, Any]:
    """Return the comparison of all tasks.

    Args:
        answers: of the plain and of the tuned encoder, any tasks and seeds.
        config: `bootstrap` and `seed`.

    Returns:
        `tasks`, by name what `compared_task` returns; and `missing`, the tasks without data, each
        with the files that it needs.

    Raises:
        InputError: see `compared_task`.
    """
    tasks: dict[str, Any] = {}
    for name in ENCODER_TASKS:
        own = {
            state: sorted((one for one in of_state if one.task == name), key=lambda one: one.seed)
            for state, of_state in answers.items()
        }
        if any(own.values()):
            tasks[name] = compared_task(name, own, config)
    missing = {
        name: f"{files.needed()} of {files.source}"
        for name, files in ENCODER_TASKS.items()
        if name not in tasks
    }
    return {"tasks": tasks, "missing": missing}


def compared_task(
    name: str, states: Mapping[str, Sequence[Answers]], config: dict[str, Any]
) -> dict[str, Any]:
    """Return the comparison of one task.

    Args:
        name: of the task.
        states: the answers of each seed, in order, by state of the encoder: plain and tuned.
        config: `bootstrap` and `seed`.

    Returns:
        `seeds`, `counts`, `learning_rates` by state, and `parts`, by name `examples`, `in_folds`
        and `measures`.

    Raises:
        InputError: the two have not the same seeds, settings and data; or the answers of one are
            of several encoders, or of one seed twice.
    """
    seeds = {state: [one.seed for one in group] for state, group in states.items()}
    if len({tuple(numbers) for numbers in seeds.values()}) > 1:
        raise InputError(
            f"{name}: the plain and the tuned encoder have different seeds ({seeds}); make "
            "what is missing"
        )
    for state, group in states.items():
        _require_one_encoder(state, group)
    every = [one for group in states.values() for one in group]
    _require_same(every)
    first, task = every[0], task_of(name, {})
    return {
        "seeds": seeds[PLAIN_STATE],
        "counts": first.counts,
        "learning_rates": {
            state: sorted({rate for one in group for rate in one.choices})
            for state, group in states.items()
        },
        "parts": {
            part: {
                "examples": len(next(iter(rows.values()))),
                "in_folds": first.in_folds[part],
                "measures": compared_part(
                    task,
                    {state: [one.rows[part] for one in group] for state, group in states.items()},
                    config["bootstrap"],
                    config["seed"],
                ),
            }
            for part, rows in first.rows.items()
        },
    }


def compare_states(
    config: dict[str, Any],
    output: Path,
    plain: Sequence[Path] = (),
    tuned: Sequence[Path] = (),
) -> None:
    """Compare what an encoder reaches in the tasks before and after it was tuned on paraphrases.

    Args:
        config: `bootstrap` and `seed`.
        output: JSON file; its record is `comparison.json` beside it.
        plain: answers of the encoder as it was (JSON lines).
        tuned: answers of the encoder that was tuned on paraphrases.

    Raises:
        InputError: a file is damaged; or see `compare`.
    """
    files = {PLAIN_STATE: plain, TUNED_STATE: tuned}
    answers = {state: [read_answers(path) for path in paths] for state, paths in files.items()}
    comparison = compare(answers, config)
    write_json(output, comparison)
    count = sum(
        part["examples"] for task in comparison["tasks"].values() for part in task["parts"].values()
    )
    write_record(output.with_name("comparison.json"), count, count, {}, files=[output])


main = command(compare_states, __name__)
