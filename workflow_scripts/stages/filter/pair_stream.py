"""The pairs of a system with their columns, read as one stream from all their files."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import shard_paths, verify
from workflow_scripts.core.files.parquet import read_batches
from workflow_scripts.core.files.rows import PairColumnsRow, PairValueRow

BATCH = 8192

Columns = dict[str, NDArray[np.float32]]


class Pairs(NamedTuple):
    """Some pairs, in the order of the shards."""

    columns: Columns  # what is unknown is NaN
    texts: pa.RecordBatch


def read_pairs(
    shards: list[Path], values: dict[str, list[Path]], names: list[str], texts: list[str]
) -> Iterator[Pairs]:
    """Yield the pairs of `pair_columns` shards, with columns that stand in files of their own.

    Args:
        shards: the shards.
        values: the `pair_values` shards of each column that a model computed.
        names: the columns of `shards` that are wanted as numbers.
        texts: its other columns.

    Raises:
        InputError: the rows of the files are not of the same pairs.
    """
    columns = list(dict.fromkeys([*names, *texts, "id", "rank"]))
    for index, shard in enumerate(shards):
        others = {column: paths[index] for column, paths in values.items()}
        readers = [read_batches(path, PairValueRow, None, BATCH) for path in others.values()]
        for batches in zip_longest(read_batches(shard, PairColumnsRow, columns, BATCH), *readers):
            for path, batch in zip(others.values(), batches[1:], strict=True):
                if not _same_pairs(batches[0], batch):
                    raise InputError(f"{path} is not of the pairs in {shard}; delete both")
            numbers = {name: _numbers(batches[0].column(name)) for name in names}
            for column, batch in zip(others, batches[1:], strict=True):
                numbers[column] = _numbers(batch.column("value"))
            yield Pairs(numbers, batches[0].select(texts))


def _same_pairs(batch: pa.RecordBatch | None, other: pa.RecordBatch | None) -> bool:
    if batch is None or other is None:
        return False
    return all(batch.column(key).equals(other.column(key)) for key in ("id", "rank"))


def _numbers(column: pa.Array) -> NDArray[np.float32]:
    return column.to_numpy(zero_copy_only=False).astype(np.float32)


def corpora_of(ids: pa.Array) -> pa.Array:
    """Return the corpora of pairs, given their ids."""
    # An id is that of the corpus, a colon, and the place in it.
    return pc.list_element(pc.split_pattern(ids, ":"), 0)


def verified_values(folders: dict[str, Path], shards: int) -> dict[str, list[Path]]:
    """Return the shards of each column that a model computed, after verifying them."""
    paths = {column: shard_paths(folder, shards) for column, folder in folders.items()}
    for path in (path for of_column in paths.values() for path in of_column):
        verify(path)
    return paths


def named_folder(text: str) -> tuple[str, Path]:
    """Parse `<column>=<folder>`."""
    column, _, folder = text.partition("=")
    return column, Path(folder)
