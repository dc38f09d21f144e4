"""The report's section on the repair of damage, and its table."""

from typing import Any

from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.table import Table, ends
from workflow_scripts.stages.rewrite import results
from workflow_scripts.stages.rewrite.results import REPAIR_FIGURES


def repair(run: FinishedRun) -> dict[str, Any]:
    """Return, of every rewriter with noise, how it and others repair known damage."""
    by_rewriter = {name: _read(run, name) for name in results.repairers(run)}
    shares = repair_table(run)
    kinds = {name: list(measures["methods"]["rewriter"]) for name, measures in by_rewriter.items()}
    by_kind = sorted(shares.records, key=lambda row: kinds[row["rewriter"]].index(row["kind"]))
    return {"found": by_rewriter, "shares": Table(shares.columns, by_kind)}


def repair_table(run: FinishedRun) -> Table:
    """Return the shares of each method by kind of damage, with their intervals."""
    rows = [
        {**shares, "rewriter": name, "method": method, "kind": kind}
        for name in results.repairers(run)
        for method, kinds in _read(run, name)["methods"].items()
        for kind, shares in kinds.items()
    ]
    return Table(f"rewriter method kind sentences {ends(' '.join(REPAIR_FIGURES))}", rows)


def _read(run: FinishedRun, name: str) -> dict[str, Any]:
    return results.read_repair(run.folder("rewrite", f"{name}-repair"))
