"""The stage's section of the report, and its tables."""

from statistics import fmean, stdev
from typing import Any

import pandas as pd

from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.table import Table
from workflow_scripts.stages.transfer import results
from workflow_scripts.stages.transfer.results import MODEL
from workflow_scripts.stages.transfer.tasks import TASKS

_DIGITS = 2


def transfer_tasks(run: FinishedRun) -> dict[str, Any] | None:
    """Return the models by task (as ParaNMT-50M's supplement), gains of training, the tasks."""
    if not run.has("transfer", results.TASKS_UNIT):
        return None
    known, tested = results.tasks(run), results.tested(run)
    trained = tested[tested["state"] == "trained"]
    return {
        "tasks": {name: {"title": TASKS[name].title, **of} for name, of in known["tasks"].items()},
        "missing": known["missing"],
        "settings": tested["settings"].iloc[0],
        "rows": [
            {
                **dict(zip(MODEL, model, strict=True)),
                "cells": {task: _cell(seeds) for task, seeds in own.groupby("task", sort=False)},
                "mean": _mean(own.groupby("task")["value"].agg(fmean)),
            }
            for model, own in tested.groupby(MODEL, sort=False)
        ],
        "gains": [
            {
                "name": name,
                "training_set": training_set,
                "seed": seed,
                "cells": _by_task(own, "gain"),
            }
            for (name, training_set, seed), own in trained.groupby([*MODEL[:2], "seed"], sort=False)
        ],
        "seen": [
            {"name": name, "training_set": training_set, **_by_task(own, "seen")}
            for (name, training_set), own in trained.groupby(MODEL[:2], sort=False)
        ],
    }


def _cell(seeds: pd.DataFrame) -> dict[str, Any]:
    """Return mean, deviation over the embedding's seeds, and ends of the interval, of one seed."""
    several = len(seeds) > 1
    return {
        "mean": _mean(seeds["value"]),
        "deviation": round(stdev(seeds["value"]), _DIGITS) if several else None,
        **{end: None if several else seeds[end].iloc[0] for end in ("low", "high")},
    }


def _mean(values: pd.Series) -> float | None:
    return round(fmean(values), _DIGITS) if len(values) else None


def _by_task(rows: pd.DataFrame, column: str) -> dict[str, Any]:
    return dict(rows.drop_duplicates("task").set_index("task")[column])


def transfer(run: FinishedRun) -> Table:
    """Return every model in every task; an interval stands where the embedding has one seed."""
    tasks = results.tasks(run)["tasks"]
    rows = [
        {
            **seeds.iloc[0],
            **_cell(seeds),
            "rows": tasks[task]["rows"][TASKS[task].test],
            "seeds": len(seeds),
            "development": _mean(seeds["development"].dropna()),
        }
        for (*_, task), seeds in results.tested(run).groupby([*MODEL, "task"], sort=False)
    ]
    columns = "model=name training_set state task metric rows seeds value=mean deviation low high"
    return Table(f"{columns} development", rows)


def transfer_gains(run: FinishedRun) -> Table:
    """Return what training gained in each task, by seed, with 95 % intervals."""
    tested = results.tested(run)
    ends = "gain=gain.value low=gain.low high=gain.high"
    rows = tested[tested["state"] == "trained"].to_dict("records")
    return Table(f"model=name training_set seed task {ends}", rows)


def transfer_data(run: FinishedRun) -> Table:
    """Return the tasks: rows by part, repetitions, and the rows that a training set has."""
    tested = results.tested(run)
    trained = tested[tested["state"] == "trained"].groupby("training_set", sort=False)
    sets = {name: _by_task(own, "seen") for name, own in trained} or {"": {}}
    rows = [
        {**data, "task": task, "training_set": name, "seen": seen.get(task)}
        for task, data in results.tasks(run)["tasks"].items()
        for name, seen in sets.items()
    ]
    parts = " ".join(f"{part}=rows.{part}?" for part in ("all", "train", "dev", "test"))
    return Table(f"task {parts} repeated contradictory training_set seen", rows)
