"""Columns that a model computes: a shard of pairs into a shard of values, row by row."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workflow_scripts.core.manifest import verify, write_record
from workflow_scripts.core.progress import progress
from workflow_scripts.core.tables import TableWriter, count_rows, read_batches

# Gets references and paraphrases; returns the values, shape (pairs,), NaN where there is none.
Values = Callable[[list[str], list[str]], NDArray[Any]]

BATCH = 1024


def write_values(
    input_path: Path, output: Path, values: Values, desc: str, batch_size: int = BATCH
) -> None:
    """Stream a `pair_columns` shard into a `pair_values` shard with its record.

    Args:
        input_path: the pairs, which are verified.
        output: the shard of values; NaN becomes null.
        values: computes those of some pairs.
        desc: of the progress.
        batch_size: pairs in one call of `values`.
    """
    verify(input_path)
    columns = ["id", "rank", "reference", "paraphrase"]
    batches = read_batches(input_path, "pair_columns", columns, batch_size)
    with TableWriter(output, "pair_values") as writer:
        for batch in progress(batches, count_rows(input_path), desc, len):
            texts = (batch.column(side).to_pylist() for side in ("reference", "paraphrase"))
            found = np.asarray(values(*texts), np.float32)
            same = {key: batch.column(key) for key in ("id", "rank")}
            writer.write_columns({**same, "value": pa.array(found, from_pandas=True)})
    write_record(output, writer.rows_written, writer.rows_written, {})
