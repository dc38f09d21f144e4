"""The files of a lexicon's units, and what is known of a finished lexicon."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.files.manifest import read_json, read_record, verify
from workflow_scripts.core.files.parquet import read_batches
from workflow_scripts.core.files.rows import LexiconRow, LexiconWordRow
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.stages.lexicon import stage

# Why a pair is left out.
TOO_LONG = "too_long"
# What follows the name of a shard: words across both sentences, and within one of them.
ACROSS, WITHIN = "-across", "-within"
# The files of a lexicon's measures, of which one record speaks.
SAMPLE, MEASURES = "sample.tsv", "measures.json"
_RECORD = "sample"
# The lexicon itself among what is compared.
LEXICON = "lexicon"


class Words(NamedTuple):
    """The words of a lexicon.

    Attributes:
        words: the word with number 1, and so on.
        sentences: how many sentences have each.
        references: how many references, of these.
    """

    words: list[str]
    sentences: NDArray[np.int64]
    references: NDArray[np.int64]


def read_words(folder: Path) -> Words:
    """Return the words of a lexicon, after verifying their file."""
    path = folder / "words.parquet"
    verify(path)
    words: list[str] = []
    counts = [np.zeros((0, 2), np.int64)]
    for batch in read_batches(path, LexiconWordRow, None, 1 << 16):
        words += batch.column("word").to_pylist()
        columns = [batch.column(name).to_numpy() for name in ("sentences", "references")]
        counts.append(np.column_stack(columns))
    return Words(words, *np.concatenate(counts).T)


def finished(run: FinishedRun) -> list[str]:
    """Return the lexicons that a release reads."""
    return [name for name in run.instances("lexicon") if run.has("lexicon", f"{name}{stage.WORDS}")]


def read_figures(run: FinishedRun, name: str) -> dict[str, int]:
    """Return the counts of a lexicon: pairs used and left out, words, phrases, rows."""
    words = read_record(run.folder("lexicon", f"{name}{stage.WORDS}") / "words.parquet")
    counts = read_record(run.folder("lexicon", name) / "lexicon.parquet")["extra"]
    left_out = sum(words["rejected"].values())
    return {"pairs": words["rows_out"], "left_out": left_out, **words["extra"], **counts}


def best_entries(folder: Path, most: int) -> list[dict[str, Any]]:
    """Return the best entries of a lexicon, each once: rows that are others turned don't count."""
    path = folder / "lexicon.parquet"
    verify(path)
    entries: dict[frozenset[str], dict[str, Any]] = {}
    for batch in read_batches(path, LexiconRow):
        for row in batch.to_pylist():
            entries.setdefault(frozenset((row["phrase"], row["paraphrase"])), row)
            if len(entries) == most:
                return list(entries.values())
    return list(entries.values())


def measured(run: FinishedRun) -> list[str]:
    """Return the lexicons whose measures a release reads."""
    return [
        instance.removesuffix(stage.MEASURES)
        for instance in run.instances("lexicon")
        if instance.endswith(stage.MEASURES)
    ]


def read_measures(folder: Path) -> dict[str, Any]:
    """Return the measures of a lexicon."""
    return read_json(folder / MEASURES, _RECORD)
