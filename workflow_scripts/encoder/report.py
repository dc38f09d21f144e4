"""The stage's section of the report, and its table."""

from typing import Any

from workflow_scripts.core.manifest import read_json
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.table import Table
from workflow_scripts.encoder.publishing import METRICS, RECORD

_FIGURES = ("pairs", "accuracy", "f1", "auc", "cosine_auc")


def names(run: FinishedRun) -> list[str]:
    """Return the encoders of a run."""
    return [name for name in run.instances("encoder") if "-" not in name]


def metrics_of(run: FinishedRun, unit: str) -> dict[str, Any]:
    """Return what is known of the training of a unit."""
    return read_json(run.folder("encoder", unit) / METRICS, RECORD)


def encoders(run: FinishedRun) -> dict[str, Any]:
    """Return the encoders: their pairs, what they were tuned from, and what they tell apart."""
    every = run.instances("encoder")
    return {
        "metrics": {name: metrics_of(run, name) for name in names(run)},
        "scratch": {
            name: metrics_of(run, f"{name}-scratch")
            for name in names(run)
            if f"{name}-scratch" in every
        },
        "mined": {
            name: run.manifest("encoder", f"{name}-pairs")["parts"]["pairs"]["extra"]
            for name in names(run)
        },
        "settings": {name: run.config["encoders"][name] for name in names(run)},
    }


def encoders_table(run: FinishedRun) -> Table:
    """Return what every encoder reaches on held-out pairs, by the kind of the negatives."""
    rows = [
        (name, kind, *(figures[each] for each in _FIGURES))
        for name in names(run)
        for kind, figures in metrics_of(run, name)["held_out"].items()
    ]
    return Table(("encoder", "negatives", *_FIGURES), rows)
