"""The report's sections on rewriters, repair of damage and templates, and their tables."""

from itertools import islice
from typing import Any

from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.table import Table, ends
from workflow_scripts.stages.rewrite import results, unit_kinds
from workflow_scripts.stages.rewrite.results import CONTROL_SETTINGS, FIGURES, REPAIR_FIGURES
from workflow_scripts.stages.train.curve_plot import learning_curve
from workflow_scripts.stages.train.results import read_curve, read_metrics

_EXAMPLES = 5


def rewriters(run: FinishedRun) -> dict[str, Any]:
    """Return the rewriters: their pairs, learning curves, measures, and examples."""
    names = results.rewriters(run)
    folders = {name: run.folder("rewrite", name) for name in names}
    measured = {name: run.folder("rewrite", f"{name}{unit_kinds.MEASURES}") for name in names}
    curves = {name: read_curve(folder / "learning_curve.tsv") for name, folder in folders.items()}
    return {
        "about": {name: results.read_about(folder) for name, folder in folders.items()},
        "metrics": {name: read_metrics(folders[name] / "metrics.json") for name in names},
        "measures": rewriters_table(run),
        "examples": {
            name: list(islice(results.read_paraphrases(folder), _EXAMPLES))
            for name, folder in measured.items()
        },
        "curves": [learning_curve(rows, name) for name, rows in curves.items() if rows],
    }


def rewriters_table(run: FinishedRun) -> Table:
    """Return the measures of every rewriter by search, each with its interval."""
    rows = [
        {**measures, "rewriter": name, "search": search, "shown_search": shown_search}
        for name in results.rewriters(run)
        for search, measures in _measures(run, name).items()
        for shown_search in [f"beam of {measures['beam_size']}" if search == "beam" else search]
    ]
    counts = "beam_size sentences empty modified_bleu"
    return Table(f"rewriter search {counts} {ends(' '.join(FIGURES))}", rows)


def _measures(run: FinishedRun, name: str) -> dict[str, Any]:
    return results.read_measures(run.folder("rewrite", f"{name}{unit_kinds.MEASURES}"))


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
    return results.read_repair(run.folder("rewrite", f"{name}{unit_kinds.REPAIR}"))


def syntactic_control(run: FinishedRun) -> dict[str, Any] | None:
    """Return the measures of the rewriters with templates; None if there is none."""
    by_name = results.controlled(run)
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
            "asked": CONTROL_SETTINGS[setting],
        }
        for name, control in results.controlled(run).items()
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
        for name, control in results.controlled(run).items()
        for template in control["templates"]
    ]
    return Table("rewriter template count answers met met_best cosine? exact?", rows)
