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


def read_control(folder: Path) -> dict[str, Any]:
    """Return the measures of a rewriter with templates."""
    return read_json(folder / RESULTS, RECORD)


def results(run: FinishedRun) -> dict[str, dict[str, Any]]:
    """Return the results of the rewriters with templates, by their names."""
    units = [name for name in run.instances("rewrite") if name.endswith(UNIT)]
    return {name.removesuffix(UNIT): read_control(run.folder("rewrite", name)) for name in units}


def syntactic_control(run: FinishedRun) -> dict[str, Any] | None:
    """Return the measures of the rewriters with templates; None if there is none."""
    by_name = results(run)
    if not by_name:
        return None
    return {"rewriters": by_name, "control": control_table(run), "templates": template_table(run)}


def control_table(run: FinishedRun) -> Table:
    """Return the measures of each setting; what a run can't measure is empty."""
    rows = [
        {
            **measures,
            "rewriter": name,
            "beam_size": control["beam_size"],
            "setting": setting,
            "asked": SHOWN[setting],
        }
        for name, control in results(run).items()
        for setting, measures in control["settings"].items()
    ]
    columns = (
        "rewriter beam_size setting answers sentences without_output without_tree met met_best "
        "met_low=met_interval.low met_high=met_interval.high met_best_low=met_best_interval.low "
        "met_best_high=met_best_interval.high copies distinct cosine? cosine_best? "
        "cosine_where_met? exact? exact_best? exact_where_met?"
    )
    return Table(columns, rows)


def template_table(run: FinishedRun) -> Table:
    """Return how each of the most frequent templates is met."""
    rows = [
        {**template, "rewriter": name}
        for name, control in results(run).items()
        for template in control["templates"]
    ]
    return Table("rewriter template count answers met met_best cosine? exact?", rows)
