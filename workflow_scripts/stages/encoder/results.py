"""What is known of the encoders of a run, as the report reads it: their files, and the figures."""

from typing import Any

from workflow_scripts.core.files.manifest import read_json
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.encoding.interface import RECORD

METRICS = "metrics.json"


def encoders(run: FinishedRun) -> list[str]:
    """Return the encoders of a run."""
    return [name for name in run.instances("encoder") if "-" not in name]


def metrics_of(run: FinishedRun, unit: str) -> dict[str, Any]:
    """Return what is known of the training of a unit."""
    return read_json(run.folder("encoder", unit) / METRICS, RECORD)
