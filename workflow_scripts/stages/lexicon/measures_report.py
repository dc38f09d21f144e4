"""The lexicons' measures in the report, and their tables."""

from collections.abc import Iterator
from typing import Any

from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.table import Table
from workflow_scripts.stages.lexicon.measures_results import PART, measured, read_measures

# The figures of a ranker on a set of word pairs.
FIGURES = ("on_covered", "on_all", "on_lexicon")
_PARTS = ("value", "low", "high")


def _each(run: FinishedRun) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in measured(run):
        yield name, read_measures(run.folder("lexicon", f"{name}{PART}"))


def _interval(found: dict[str, float] | None) -> tuple[float | None, ...]:
    return tuple(found[part] if found else None for part in _PARTS)


def measures_of_lexicons(run: FinishedRun) -> dict[str, Any] | None:
    """Return the measures of every lexicon; None if none is measured."""
    found = dict(_each(run))
    if not found:
        return None
    return {"measures": found}


def word_similarity(run: FinishedRun) -> Table:
    """Return Spearman's rho of each lexicon and each other ranker on each set of word pairs."""
    columns: tuple[str, ...] = ("lexicon", "data_set", "ranker", "pairs", "covered", "common")
    columns += tuple(f"{name}_{part}" for name in FIGURES for part in _PARTS)
    rows = [
        (
            *(name, data_set, ranker, of_set["pairs"], one["covered"], one["common"]),
            *(value for figure in FIGURES for value in _interval(one[figure])),
        )
        for name, each in _each(run)
        for data_set, of_set in (each["similarity"] or {}).items()
        for ranker, one in of_set["rankers"].items()
    ]
    return Table(columns, rows)


def lexicon_precision(run: FinishedRun) -> Table:
    """Return the precision of the best entries of each lexicon, and of lists beside it."""
    columns: tuple[str, ...] = ("lexicon", "of", "by", "words", "entries", "both_known")
    columns += tuple(f"{name}_{part}" for name in ("precision", "with_further") for part in _PARTS)
    columns += ("precision_both_known", "chance")
    rows = [
        (
            *(name, part["of"], part["by"], part["words"], cut["entries"], cut["both_known"]),
            *_interval(cut["precision"]),
            *_interval(cut["with_further"]),
            cut["precision_both_known"],
            cut["chance"],
        )
        for name, each in _each(run)
        for part in each["precision"]
        for cut in part["cuts"]
    ]
    return Table(columns, rows)


def lexicon_antonyms(run: FinishedRun) -> Table:
    """Return how many of the best entries of each lexicon are antonyms."""
    rows = [
        (name, source, cut["entries"], one["count"], one["share"])
        for name, each in _each(run)
        for cut in each["antonyms"]
        for source, one in cut["by_source"].items()
    ]
    return Table(("lexicon", "source", "entries", "antonyms", "share"), rows)


def lexicon_synonyms(run: FinishedRun) -> Table:
    """Return exact precision and recall on the testbed, by the best entries."""
    columns = (
        *("entries", "score", "known", "right", "precision", "precision_known"),
        *("recall", "recall_aligned"),
    )
    rows = [
        (name, words, *(cut[column] for column in columns))
        for name, each in _each(run)
        for words, of_words in (each["testbed"] or {}).items()
        for cut in of_words["cuts"]
    ]
    return Table(("lexicon", "words", *columns), rows)
