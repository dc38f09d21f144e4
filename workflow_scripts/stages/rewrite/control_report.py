"""How well rewriters follow templates: a section of the report, and tables of the release."""

from pathlib import Path
from typing import Any

from workflow_scripts.core.files.manifest import read_json
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.table import Table

# The unit of a rewriter with templates that judges it by them, its results, and the record of the
# answers, which speaks for the results, too.
UNIT = "-control"
RESULTS, RECORD = "control.json", "answers"
# What a setting asks for, and what the rewriter reads.
SHOWN = {
    "target": "that of the held-out target, which it reads",
    "own": "that of the held-out target; it reads that of the sentence itself",
    "free": "that of the held-out target; it reads none",
    "frequent": "each of the most frequent ones, which it reads",
    "frequent_free": "each of the most frequent ones; it reads none",
}
_FIGURES = ("answers", "sentences", "without_output", "without_tree", "met", "met_best")
_MORE = ("copies", "distinct")
_SCORES = tuple(
    f"{name}{end}" for name in ("cosine", "exact") for end in ("", "_best", "_where_met")
)


def read_control(folder: Path) -> dict[str, Any]:
    """Return the measures of a rewriter with templates."""
    return read_json(folder / RESULTS, RECORD)


def results(run: FinishedRun) -> dict[str, dict[str, Any]]:
    """Return the results of the rewriters with templates, by their names."""
    units = [name for name in run.instances("rewrite") if name.endswith(UNIT)]
    return {name.removesuffix(UNIT): read_control(run.folder("rewrite", name)) for name in units}


def syntactic_control(run: FinishedRun) -> dict[str, Any] | None:
    """Return the measures of the rewriters with templates; None if there is none."""
    found = results(run)
    return {"rewriters": found, "settings": SHOWN} if found else None


def control_table(run: FinishedRun) -> Table:
    """Return the measures of each setting; what a run can't measure is empty."""
    intervals = ("met_low", "met_high", "met_best_low", "met_best_high")
    columns = ("rewriter", "beam_size", "setting", *_FIGURES, *intervals, *_MORE, *_SCORES)
    rows = [
        (
            *(name, each["beam_size"], setting),
            *(found[key] for key in _FIGURES),
            *(found[f"{key}_interval"][end] for key in _FIGURES[-2:] for end in ("low", "high")),
            *(found[key] for key in _MORE),
            *(found.get(key) for key in _SCORES),
        )
        for name, each in results(run).items()
        for setting, found in each["settings"].items()
    ]
    return Table(columns, rows)


def template_table(run: FinishedRun) -> Table:
    """Return how each of the most frequent templates is met."""
    columns = ("template", "count", "answers", "met", "met_best", "cosine", "exact")
    rows = [
        (name, *(found.get(key) for key in columns))
        for name, each in results(run).items()
        for found in each["templates"]
    ]
    return Table(("rewriter", *columns), rows)
