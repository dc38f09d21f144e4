"""What is known of the models, as the report, the datasheet and the summary read it."""

from pathlib import Path
from typing import Any

from workflow_scripts.core.files.manifest import read_json, verify_file
from workflow_scripts.core.files.tsv import read_rows
from workflow_scripts.core.report.finished_run import FinishedRun


def read_metrics(path: Path) -> dict[str, Any]:
    """Return the metrics.json of a model, checked against the model's record."""
    return read_json(path, "model")


def read_curve(path: Path) -> list[dict[str, float]]:
    """Return the rows of the learning_curve.tsv of a model, checked against its record."""
    verify_file(path, "model")
    return [{key: float(value) for key, value in row.items()} for _, row in read_rows(path, ())]


def all_metrics(run: FinishedRun) -> dict[str, dict[str, Any]]:
    """Return the metrics.json of every model by its role, those of the filter models last."""
    return {
        role: read_metrics(run.folder("train", role) / "metrics.json")
        for role in sorted(run.instances("train"), key=lambda role: role.startswith("filter_"))
    }
