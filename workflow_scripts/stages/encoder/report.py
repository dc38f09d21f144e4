"""The stage's section of the report, and its table."""

from typing import Any

from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.table import Table
from workflow_scripts.stages.encoder import results
from workflow_scripts.stages.encoder.results import metrics_of

_HALVES = {"neighbour": "near", "random": "random"}


def encoders(run: FinishedRun) -> dict[str, Any]:
    """Return the encoders: their pairs, what they were tuned from, and what they tell apart."""
    every = run.instances("encoder")
    names = results.encoders(run)
    pairs = {name: run.manifest("encoder", f"{name}-pairs") for name in names}
    return {
        "held_out": encoders_table(run),
        "metrics": {name: metrics_of(run, name) for name in names},
        "scratch": {
            name: metrics_of(run, f"{name}-scratch") for name in names if f"{name}-scratch" in every
        },
        "mined": {name: manifest["parts"]["pairs"]["extra"] for name, manifest in pairs.items()},
        "training_sets": {name: _training_set(manifest) for name, manifest in pairs.items()},
    }


def _training_set(manifest: dict[str, Any]) -> str:
    """Return the training set of pairs, `<entry>-<system>`, given their manifest."""
    units = (name.split("/") for name in manifest["upstream"])
    return next(instance for stage, instance, *_ in units if stage == "filter")


def encoders_table(run: FinishedRun) -> Table:
    """Return what every encoder reaches on held-out pairs, by the kind of the negatives."""
    rows = [
        {**figures, "encoder": name, "negatives": kind, "half": _HALVES[kind]}
        for name in results.encoders(run)
        for kind, figures in metrics_of(run, name)["held_out"].items()
    ]
    return Table("encoder negatives pairs accuracy f1 auc cosine_auc", rows)
