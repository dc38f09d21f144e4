"""All that makes a corpus doubtful, for the report, the datasheet and the summary."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.stages.evaluate.doubts import doubts as doubts_of_references
from workflow_scripts.stages.evaluate.results import read_measures
from workflow_scripts.stages.train.doubts import doubts as doubts_of_model
from workflow_scripts.stages.train.results import all_metrics


def doubts(models: dict[str, dict[str, Any]], evaluated: Iterable[Path]) -> list[str]:
    """Return what is hopeless about models and references; none if nothing is.

    Args:
        models: the metrics.json of each model, by its role.
        evaluated: the folders of the systems' evaluations. Those of runs that score their
            references have bounds.json, with the same scores of the references in each.
    """
    sentences = [doubt for model in models.items() for doubt in doubts_of_model(*model)]
    path = next((folder / "bounds.json" for folder in evaluated), None)
    if path is not None and path.exists():
        sentences += doubts_of_references(read_measures(path)["own"]["all"])
    return sentences


def doubts_of(run: FinishedRun) -> list[str]:
    """Return `doubts` of a finished run."""
    evaluated = [run.folder("evaluate", system) for system in run.instances("evaluate")]
    return doubts(all_metrics(run), evaluated)
