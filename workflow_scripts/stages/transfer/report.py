"""The stage's section of the report, and its tables."""

from statistics import fmean, stdev
from typing import Any

from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.table import Table
from workflow_scripts.stages.transfer import results
from workflow_scripts.stages.transfer.results import Tested
from workflow_scripts.stages.transfer.tasks import TASKS

_DIGITS = 2


def transfer_tasks(run: FinishedRun) -> dict[str, Any] | None:
    """Return the models by task (as ParaNMT-50M's supplement), gains of training, the tasks."""
    if not run.has("transfer", results.TASKS_UNIT):
        return None
    known, models = results.tasks(run), results.tested(run)
    names = list(known["tasks"])
    return {
        "tasks": {name: {"title": TASKS[name].title, **known["tasks"][name]} for name in names},
        "missing": known["missing"],
        "settings": models[0].by_seed[0]["config"],
        "rows": [
            {
                "name": model.name,
                "training_set": model.training_set,
                "state": model.state,
                "cells": {name: _cell(model, name) for name in names},
                "mean": _mean(model, names),
            }
            for model in models
        ],
        "gains": [
            {**row, "cells": {name: row["gain"].get(name) for name in names}}
            for row in _gains(models)
        ],
        "seen": [
            {"name": model.name, "training_set": model.training_set, **model.by_seed[0]["seen"]}
            for model in models
            if model.state == "trained"
        ],
    }


def _cell(one: Tested, task: str) -> dict[str, Any]:
    """Return mean, deviation over the embedding's seeds, and ends of the interval, of one seed."""
    values = one.values(task)
    several = len(values) > 1
    return {
        "mean": round(fmean(values), _DIGITS),
        "deviation": round(stdev(values), _DIGITS) if several else None,
        **{end: None if several else one.values(task, end)[0] for end in ("low", "high")},
    }


def _mean(one: Tested, names: list[str]) -> float:
    return round(fmean(fmean(one.values(name)) for name in names), _DIGITS)


def _gains(models: list[Tested]) -> list[dict[str, Any]]:
    """Return the gain of training of each seed's model, by task."""
    return [
        {
            "name": model.name,
            "training_set": model.training_set,
            "seed": result["config"]["repetition"],
            "gain": result["gain"],
        }
        for model in models
        if model.state == "trained"
        for result in model.by_seed
    ]


def transfer(run: FinishedRun) -> Table:
    """Return every model in every task; an interval stands where the embedding has one seed."""
    tasks = results.tasks(run)["tasks"]
    rows = [
        {
            **model.by_seed[0]["states"][model.state][task],
            **model._asdict(),
            **_cell(model, task),
            "task": task,
            "rows": data["rows"][TASKS[task].test],
            "seeds": len(model.by_seed),
            "development": _rounded_mean(model.values(task, "development")),
        }
        for model in results.tested(run)
        for task, data in tasks.items()
    ]
    columns = "model=name training_set state task metric rows seeds value=mean deviation low high"
    return Table(f"{columns} development", rows)


def _rounded_mean(values: list[float]) -> float | None:
    return round(fmean(values), _DIGITS) if values else None


def transfer_gains(run: FinishedRun) -> Table:
    """Return what training gained in each task, by seed, with 95 % intervals."""
    tasks = results.tasks(run)["tasks"]
    gains = _gains(results.tested(run))
    rows = [{**row, "task": task, "gain": row["gain"][task]} for row in gains for task in tasks]
    ends = "gain=gain.value low=gain.low high=gain.high"
    return Table(f"model=name training_set seed task {ends}", rows)


def transfer_data(run: FinishedRun) -> Table:
    """Return the tasks: rows by part, repetitions, and the rows that a training set has."""
    trained = [model for model in results.tested(run) if model.state == "trained"]
    sets = {model.training_set: model.by_seed[0]["seen"] for model in trained}
    rows = [
        {**data, "task": task, "training_set": name, "seen": seen and seen[task]}
        for task, data in results.tasks(run)["tasks"].items()
        for name, seen in (sets or {"": None}).items()
    ]
    parts = " ".join(f"{part}=rows.{part}?" for part in ("all", "train", "dev", "test"))
    return Table(f"task {parts} repeated contradictory training_set seen", rows)
