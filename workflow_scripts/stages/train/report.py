"""The stage's section of the report."""

from typing import Any

from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.stages.train.curve_plot import learning_curve
from workflow_scripts.stages.train.results import all_metrics, read_curve


def models(run: FinishedRun) -> dict[str, Any]:
    """Return the models with their learning curves; a model that was not trained here has none."""
    by_role = all_metrics(run)
    curves = {
        role: read_curve(run.folder("train", role) / "learning_curve.tsv") for role in by_role
    }
    return {
        "models": by_role,
        "finished": run.config.get("models", []),
        "curves": [learning_curve(rows, role) for role, rows in curves.items() if rows],
    }
