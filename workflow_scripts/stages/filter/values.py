"""Columns that a model computes: a shard of pairs into a shard of values, row by row."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.rows import PairColumnsRow, PairValueRow
from workflow_scripts.core.files.shard_frame import Input, Tally, write_shard
from workflow_scripts.stages.filter.pair_stream import corpora_of

# Gets references and paraphrases; returns the values, shape (pairs,), NaN where there is none.
Values = Callable[[list[str], list[str]], NDArray[Any]]

# Gets pairs with the columns that it asked for, besides id and rank; returns the same.
BatchValues = Callable[[pa.RecordBatch], NDArray[Any]]

BATCH = 1024


def by_models(
    folder: Path, corpora: Sequence[str], load: Callable[[Path], BatchValues]
) -> BatchValues:
    """Return the values by one model, or those of each pair by the model of its corpus.

    Args:
        folder: of the model; one of a corpus stands in the folder of its name below it.
        corpora: those with a model each; none of them: there is one model for all.
        load: gives the values by the model in a folder.
    """
    if not corpora:
        return load(folder)
    models = {corpus: load(folder / corpus) for corpus in corpora}

    def values(batch: pa.RecordBatch) -> NDArray[np.float32]:
        names = corpora_of(batch.column("id")).to_numpy(zero_copy_only=False)
        result = np.full(len(batch), np.nan, np.float32)
        for corpus in dict.fromkeys(names):
            if corpus not in models:
                raise InputError(f"{folder} has no model of the corpus '{corpus}' of these pairs")
            rows = np.flatnonzero(names == corpus)
            result[rows] = models[corpus](batch.take(pa.array(rows)))
        return result

    return values


def write_values(
    input_path: Path,
    output: Path,
    values: Values,
    desc: str,
    batch_size: int = BATCH,
    extra: dict[str, Any] | None = None,
) -> None:
    """Stream a shard as `column_values` does, whose `values` get the texts alone."""
    sides = ["reference", "paraphrase"]

    def of_texts(batch: pa.RecordBatch) -> NDArray[Any]:
        return values(*(batch.column(side).to_pylist() for side in sides))

    column_values(input_path, output, sides, of_texts, desc, batch_size, extra)


def column_values(
    input_path: Path,
    output: Path,
    columns: list[str],
    values: BatchValues,
    desc: str,
    batch_size: int = BATCH,
    extra: dict[str, Any] | None = None,
) -> None:
    """Stream a `pair_columns` shard into a `pair_values` shard with its record.

    Args:
        input_path: the pairs, which are verified.
        output: the shard of values; NaN becomes null.
        columns: those of the pairs that `values` gets, besides id and rank.
        values: computes those of some pairs.
        desc: of the progress.
        batch_size: pairs in one call of `values`.
        extra: more figures of the record.
    """

    def computed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            numbers = np.asarray(values(batch), np.float32)
            same = {key: batch.column(key) for key in ("id", "rank")}
            yield pa.record_batch({**same, "value": pa.array(numbers, from_pandas=True)})

    pairs = Input(input_path, PairColumnsRow).batches(["id", "rank", *columns], batch_size)
    write_shard(pairs, computed, output, PairValueRow, desc, Tally(extra=extra or {}))
