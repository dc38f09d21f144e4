"""The stage's sections of the report, and their tables."""

from collections.abc import Iterator
from typing import Any

from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.table import Table, ends
from workflow_scripts.stages.lexicon.results import (
    best_entries,
    finished,
    measured,
    read_figures,
    read_measures,
)
from workflow_scripts.stages.lexicon.stage import MEASURES

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


def _by_lexicon(run: FinishedRun) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in measured(run):
        yield name, read_measures(run.folder("lexicon", f"{name}{MEASURES}"))


def measures_of_lexicons(run: FinishedRun) -> dict[str, Any] | None:
    """Return the measures of every lexicon; None if none is measured."""
    measures = dict(_by_lexicon(run))
    if not measures:
        return None
    return {
        "measures": measures,
        "similarity": word_similarity(run),
        "precision": lexicon_precision(run),
        "antonyms": lexicon_antonyms(run),
        "synonyms": lexicon_synonyms(run),
    }


def word_similarity(run: FinishedRun) -> Table:
    """Return Spearman's rho of each lexicon and each other ranker on each set of word pairs."""
    rows = [
        {**one, "lexicon": name, "data_set": data_set, "ranker": ranker, "pairs": of_set["pairs"]}
        for name, measures in _by_lexicon(run)
        for data_set, of_set in (measures["similarity"] or {}).items()
        for ranker, one in of_set["rankers"].items()
    ]
    return Table(
        f"lexicon data_set ranker pairs covered common {ends('on_covered on_all on_lexicon')}", rows
    )


def lexicon_precision(run: FinishedRun) -> Table:
    """Return the precision of the best entries of each lexicon, and of lists beside it."""
    rows = [
        {**part, **cut, "lexicon": name}
        for name, measures in _by_lexicon(run)
        for part in measures["precision"]
        for cut in part["cuts"]
    ]
    figures = ends("precision with_further")
    columns = f"lexicon of by words entries both_known {figures} precision_both_known chance"
    return Table(columns, rows)


def lexicon_antonyms(run: FinishedRun) -> Table:
    """Return how many of the best entries of each lexicon are antonyms."""
    rows = [
        {
            **one,
            "lexicon": name,
            "source": source,
            "entries": cut["entries"],
            "first": ", ".join(map(" / ".join, one["first"])),
        }
        for name, measures in _by_lexicon(run)
        for cut in measures["antonyms"]
        for source, one in cut["by_source"].items()
    ]
    return Table("lexicon source entries antonyms=count share", rows)


def lexicon_synonyms(run: FinishedRun) -> Table:
    """Return exact precision and recall on the testbed, by the best entries."""
    rows = [
        {**cut, "lexicon": name, "words": words}
        for name, measures in _by_lexicon(run)
        for words, of_words in (measures["testbed"] or {}).items()
        for cut in of_words["cuts"]
    ]
    figures = "precision precision_known recall recall_aligned"
    return Table(f"lexicon words entries score known right {figures}", rows)
