"""The stage's section of the report, and its table."""

from typing import Any

from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.table import Table
from workflow_scripts.stages.lexicon.results import best_entries, finished, read_figures

_SHOWN = 20


def lexicons(run: FinishedRun) -> dict[str, Any] | None:
    """Return the lexicons: what they were made of, and their best entries."""
    names = finished(run)
    if not names:
        return None
    return {
        "counts": lexicons_table(run),
        "best": {name: best_entries(run.folder("lexicon", name), _SHOWN) for name in names},
    }


def lexicons_table(run: FinishedRun) -> Table:
    """Return the counts of every lexicon."""
    rows = [{**read_figures(run, name), "lexicon": name} for name in finished(run)]
    return Table("lexicon pairs left_out words learnt_from phrases rows unattested", rows)
