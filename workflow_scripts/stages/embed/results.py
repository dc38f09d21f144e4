"""What the embeddings reached in their test, as the report and the summary read it."""

from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.core.files.manifest import read_json
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.stages.embed.sts_tables import Model, embedding_names, models


def read_sts(path: Path) -> dict[str, Any]:
    """Return an sts.json, checked against its record."""
    return read_json(path, "testing")


class Tested(NamedTuple):
    """The test of a run's embeddings.

    Attributes:
        sts: sts.json.
        training_sets: the manifests of those that embeddings were trained on, by name.
        models: of sts.json, in the order of the configuration.
    """

    sts: dict[str, Any]
    training_sets: dict[str, dict[str, Any]]
    models: list[Model]


def tested(run: FinishedRun) -> Tested:
    """Return the test of the embeddings, which the run must have."""
    sts = read_sts(run.folder("embed", "sts") / "sts.json")
    training_sets = {name: run.manifest("filter", name) for name in run.instances("filter")}
    return Tested(sts, training_sets, models(sts, training_sets, embedding_names(run.config)))
