"""The stage's section of the report: the corpora whose sources no person wrote."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.core.files.manifest import read_manifest
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.statistics.frequency import most_frequent
from workflow_scripts.plan.catalogues.written_sources import SOURCES, TEXT


class Written(NamedTuple):
    """A corpus with written sources.

    Attributes:
        name: of the corpus.
        source: `written by MODEL`.
        max_nll: the bound of its references' NLL, in nats per token.
        written: references that have a source, or several.
        left_out: references that have none, and lines of the text that are no references.
        reasons: why lines, references or their sources were left out, the most frequent first.
    """

    name: str
    source: str
    max_nll: float
    written: int
    left_out: int
    reasons: dict[str, int]


def written(name: str, text: Path, pairs: Path, sources: Path) -> Written:
    """Return what became of the text of a corpus.

    Args:
        name: of the corpus.
        text: the folder of the unit of its text.
        pairs: the folder of its unit.
        sources: the folder of the unit of its sources.

    Raises:
        InputError: a manifest is missing or damaged.
    """
    of_text, of_pairs, of_sources = (
        read_manifest(folder / "manifest.json") for folder in (text, pairs, sources)
    )
    counts = of_pairs["parts"]["rejected.tsv"]["extra"]
    reasons = Counter(of_text["rejected"])
    reasons.update(of_sources["rejected"])
    left_out = counts["left_out"] + reasons.total()
    reasons.update(of_pairs["rejected"])
    settings = of_pairs["config"]
    return Written(
        name,
        settings["source"],
        settings["max_nll"],
        counts["written"],
        left_out,
        most_frequent(reasons),
    )


def written_of(run: FinishedRun, names: Iterable[str]) -> list[Written]:
    """Return what became of the text of these corpora, as far as the run has them."""
    return [
        written(
            name,
            run.folder("corpus", f"{name}{TEXT}"),
            run.folder("corpus", name),
            run.folder("generate", f"{name}{SOURCES}"),
        )
        for name in names
        if run.has("corpus", name)
    ]


def written_sources(run: FinishedRun) -> dict[str, Any] | None:
    """Return the corpora whose sources are written; None if the run has none."""
    corpora = written_of(run, run.config.get("written_sources", ()))
    return {"corpora": corpora} if corpora else None
