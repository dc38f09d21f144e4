"""Columns that a model computes: a shard of pairs into a shard of values, row by row."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workflow_scripts.core.files.rows import PairColumnsRow, PairValueRow
from workflow_scripts.core.files.shard_frame import Input, Tally, write_shard

# Gets references and paraphrases; returns the values, shape (pairs,), NaN where there is none.
Values = Callable[[list[str], list[str]], NDArray[Any]]

BATCH = 1024


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
    values: Callable[[pa.RecordBatch], NDArray[Any]],
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
