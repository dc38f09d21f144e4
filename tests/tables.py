"""Tables as stages write them, for tests that begin in the middle of a run."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.parquet import TableWriter
from workflow_scripts.core.files.rows import DocumentFrequencyRow, TrainingPairRow


def write_table(path: Path, kind: type, rows: Iterable[Mapping[str, Any]], **record: Any) -> Path:
    """Write a table of rows of this kind, with its record, which tells more; return its path."""
    with TableWriter(path, kind) as table:
        for row in rows:
            table.write(row)
    write_record(path, table.rows_written, table.rows_written, {}, **record)
    return path


def write_training_pairs(path: Path, pairs: Iterable[tuple[str, str]]) -> Path:
    """Write a training set of references with their paraphrases, as the stage filter does."""
    rows = (
        {"id": f"t:{number}", "reference": reference, "paraphrase": paraphrase}
        for number, (reference, paraphrase) in enumerate(pairs)
    )
    return write_table(path, TrainingPairRow, rows)


def write_frequencies(path: Path, counts: Mapping[str, int], references: int) -> Path:
    """Write in how many of so many references each word stands, as the stage generate does."""
    rows = ({"word": word, "references": count} for word, count in counts.items())
    write_table(path, DocumentFrequencyRow, rows)
    write_record(path, references, references, {})
    return path


def pair(identifier: str, source: str = "s", reference: str = "r") -> dict[str, Any]:
    """Return a row of a pair; its id begins with its corpus and a colon."""
    corpus = identifier.partition(":")[0]
    return {"id": identifier, "source": source, "reference": reference, "corpus": corpus}


# What a candidate has not that was neither written from another source nor compared.
_ALONE = {"source": None, "lost": None, "divergence": None}


def candidate(text: str, forward: float, backward: float | None, **more: Any) -> dict[str, Any]:
    """Return a scored candidate; without a backward NLL it is one that was pruned."""
    total = None if backward is None else forward + backward
    nlls = {"forward_nll": forward, "backward_nll": backward, "sum": total}
    return {"text": text, **nlls, "count": 1, "variant": "v", **_ALONE, **more}


def paraphrase(
    rank: int, text: str, forward: float = 0.5, backward: float | None = 0.75, **more: Any
) -> dict[str, Any]:
    """Return a paraphrase that was selected."""
    total = None if backward is None else forward + backward
    nlls = {"forward_nll": forward, "backward_nll": backward, "sum": total}
    rest = {"cluster": None, "variant": "", "probability": None, **more}
    return {"rank": rank, "text": text, **nlls, **rest}


def selected(pair: Mapping[str, Any], paraphrases: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the row of a reference with its paraphrases, of which there were no others."""
    count = len(paraphrases)
    more = {"candidates": count, "kept": count, "reason": ""}
    return {**pair, "paraphrases": paraphrases, **more}
