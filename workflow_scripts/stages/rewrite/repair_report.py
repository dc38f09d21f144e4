"""The report's section on the repair of damage, and its table."""

from typing import Any

from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.table import Table
from workflow_scripts.stages.rewrite import results
from workflow_scripts.stages.rewrite.results import REPAIR_FIGURES


def repair(run: FinishedRun) -> dict[str, Any]:
    """Return, of every rewriter with noise, how it and others repair known damage."""
    names = results.repairers(run)
    return {
        "figures": REPAIR_FIGURES,
        "found": {
            name: results.read_repair(run.folder("rewrite", f"{name}-repair")) for name in names
        },
    }


def repair_table(run: FinishedRun) -> Table:
    """Return the shares of each method by kind of damage, with their intervals."""
    parts = ("value", "low", "high")
    columns: tuple[str, ...] = ("rewriter", "method", "kind", "sentences")
    columns += tuple(f"{name}_{part}" for name in REPAIR_FIGURES for part in parts)
    rows = []
    for name in results.repairers(run):
        repair = results.read_repair(run.folder("rewrite", f"{name}-repair"))
        for method, kinds in repair["methods"].items():
            for kind, shares in kinds.items():
                figures = [shares[figure] or dict.fromkeys(parts) for figure in REPAIR_FIGURES]
                values = (figure[part] for figure in figures for part in parts)
                rows.append((name, method, kind, shares["sentences"], *values))
    return Table(columns, rows)
