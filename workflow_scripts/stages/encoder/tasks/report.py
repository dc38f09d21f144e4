"""The section of the report on the tasks of encoders, and its table."""

from typing import Any

from workflow_scripts.core.files.manifest import read_json
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.table import Table, ends
from workflow_scripts.plan.catalogues.encoder_tasks import ENCODER_TASKS, PLAIN_STATE, TUNED_STATE
from workflow_scripts.stages.encoder.tasks.squad import TYPES

_UNIT = "-comparison"
_STATES = (PLAIN_STATE, TUNED_STATE)
# Table 4 of ParaBank 2, and SICK-E: task, part, measure. MRPC without GLUE's development part is
# tested on its test part.
SHOWN = (
    ("QQP", ("dev",), "f1"),
    ("MNLI", ("matched",), "accuracy"),
    ("STS-B", ("dev",), "spearman"),
    ("MRPC", ("dev", "test"), "f1"),
    ("SICK-E", ("test",), "accuracy"),
)
MEASURE_NAMES = {
    "f1": "F1",
    "exact": "exact match",
    "accuracy": "accuracy",
    "spearman": "Spearman",
    "pearson": "Pearson",
}


def comparisons(run: FinishedRun) -> dict[str, dict[str, Any]]:
    """Return what was found of each encoder of a run, by its name."""
    units = [name for name in run.instances("encoder") if name.endswith(_UNIT)]
    return {
        name.removesuffix(_UNIT): read_json(
            run.folder("encoder", name) / "tasks.json", "comparison"
        )
        for name in units
    }


def encoder_tasks(run: FinishedRun) -> dict[str, Any] | None:
    """Return the tables in the forms of ParaBank 2's Tables 4 and 5, and what is missing."""
    by_name = comparisons(run)
    if not by_name:
        return None
    return {
        "pairs": {name: _pair_columns(comparison) for name, comparison in by_name.items()},
        "spans": {name: span_rows(comparison) for name, comparison in by_name.items()},
        "states": _STATES,
        "about": {
            name: [_about(task, block) for task, block in _in_order(comparison["tasks"])]
            for name, comparison in by_name.items()
        },
        "missing": _in_order(next(iter(by_name.values()))["missing"]),
    }


def _in_order(of_tasks: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return what is known of tasks in the order of `ENCODER_TASKS`."""
    return [(task, of_tasks[task]) for task in ENCODER_TASKS if task in of_tasks]


def _pair_columns(comparison: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the columns of Table 4: `heading` and `figures`, None for a task without data."""
    columns = []
    for task, parts, measure in SHOWN:
        block = comparison["tasks"].get(task, {"parts": {}})
        part = next((name for name in parts if name in block["parts"]), None)
        figures = block["parts"][part]["measures"][measure] if part else None
        of_test = f" ({part})" if part and part != parts[0] else ""
        columns.append(
            {"heading": f"{task}{of_test}, {MEASURE_NAMES[measure]}", "figures": figures}
        )
    return columns


def span_rows(comparison: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of Table 5: `measure`, `type` and `figures`; none without SQuAD."""
    task = comparison["tasks"].get("SQuAD")
    if task is None:
        return []
    measures = task["parts"]["dev"]["measures"]
    return [
        {
            "measure": MEASURE_NAMES[measure],
            "type": kind,
            "figures": measures[f"{measure}_{kind}"],
        }
        for measure in ("f1", "exact")
        for kind in TYPES
        if f"{measure}_{kind}" in measures
    ]


def _about(task: str, block: dict[str, Any]) -> dict[str, Any]:
    """Return what is told of a task: how it was tested, and what its readers noticed."""
    noticed = {
        f"{part}, {what.replace('_', ' ')}": count
        for part, counts in block["counts"].items()
        for what, count in counts.items()
        if what != "examples" and count
    }
    return {
        "task": task,
        "examples": {part: counts["examples"] for part, counts in block["counts"].items()},
        "folds": [name for name, part in block["parts"].items() if part["in_folds"]],
        "seeds": len(block["seeds"]),
        "learning_rates": block["learning_rates"],
        "noticed": noticed,
    }


def encoder_tasks_table(run: FinishedRun) -> Table:
    """Return every measure of every task: plain, tuned and the gain, each with its interval."""
    rows = [
        {**rated, **figures, "encoder": name, "task": task, "part": part, "measure": measure}
        for name, comparison in comparisons(run).items()
        for task, block in _in_order(comparison["tasks"])
        for part, rated in block["parts"].items()
        for measure, figures in rated["measures"].items()
    ]
    states = ends(" ".join(_STATES), "value low high deviation")
    columns = f"encoder task part in_folds examples measure {states} {ends('gain')}"
    return Table(columns, rows)
