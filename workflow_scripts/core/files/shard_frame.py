"""The frame of a job that makes a shard: verify, read, work, show progress, write, record.

A stage gives what it reads (`Input`), a generator that turns rows into rows (its work), and what
only it can count (`Tally`). `write_shard` does the rest:

    pairs = Input(path, PairRow)
    tally = Tally()

    def kept(rows: Iterator[PairRow]) -> Iterator[PairRow]:
        for row in rows:
            if is_good(row):
                yield row
            else:
                tally.rejected["bad"] += 1

    write_shard(pairs.rows(), kept, output, PairRow, "my_stage", tally)
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import pyarrow as pa

from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.files.parquet import TableWriter, count_rows, read_batches, read_rows
from workflow_scripts.core.progress import progress

T = TypeVar("T")
RowT = TypeVar("RowT")
# What is written: a row of any schema, or a batch of rows.
Rows: TypeAlias = "Mapping[str, object] | pa.RecordBatch"


def rows_of(item: object) -> int:
    """Return how many rows an item is: a batch has several."""
    return item.num_rows if isinstance(item, pa.RecordBatch) else 1


@dataclass(frozen=True)
class Stream(Generic[T]):
    """What a shard is made from, in order.

    Attributes:
        items: rows, batches, or anything that stands for rows.
        total: how many rows there are in all, if that is known beforehand.
        size: gives the rows of an item.
    """

    items: Iterable[T]
    total: int | None = None
    size: Callable[[T], int] = rows_of


class Input(Generic[RowT]):
    """Files of one kind of rows that stages wrote, verified, and read one after the other.

    Attributes:
        paths: of the files.
        row: the typed dict of their rows, as in `read_rows`.
    """

    def __init__(self, paths: Path | Sequence[Path], row: type[RowT]):
        """Verify the files against their records.

        Raises:
            InputError: a file is missing, or differs from what its stage wrote.
        """
        self.paths = [paths] if isinstance(paths, Path) else list(paths)
        self.row = row
        for path in self.paths:
            verify(path)

    def rows(self, columns: list[str] | None = None, batch_size: int = 1024) -> Stream[RowT]:
        """Return the rows, `columns` of them; `batch_size` are in memory at once."""
        rows = (
            row for path in self.paths for row in read_rows(path, self.row, columns, batch_size)
        )
        return Stream(rows, self.count())

    def batches(
        self, columns: list[str] | None = None, batch_size: int = 1024
    ) -> Stream[pa.RecordBatch]:
        """Return the rows as batches of `batch_size` at most."""
        batches = (
            batch
            for path in self.paths
            for batch in read_batches(path, self.row, columns, batch_size)
        )
        return Stream(batches, self.count())

    def count(self) -> int:
        """Return the number of rows, from the files' footers alone."""
        return sum(map(count_rows, self.paths))


@dataclass
class Tally:
    """Counts for the record of a shard that its stage makes as rows go by.

    Attributes:
        rejected: rows that were read and not written, by reason.
        extra: more figures, kept as they are.
        used: rows that were read and not rejected, where one such row does not give one row that
            is written; None where it does.
        beside: more files that the record names, which are whole once all rows are written.
    """

    rejected: Counter[str] = field(default_factory=Counter)
    extra: dict[str, Any] = field(default_factory=dict)
    used: int | None = None
    beside: list[Path] = field(default_factory=list)


def write_shard(
    stream: Stream[T],
    work: Callable[[Iterator[T]], Iterable[Rows]],
    output: Path,
    row: type,
    desc: str,
    tally: Tally | None = None,
    *,
    shown: Literal["read", "written"] = "read",
    group_rows: int = 8192,
) -> None:
    """Stream rows through `work` into a Parquet file, which appears whole, and write its record.

    Args:
        stream: what is read.
        work: turns what is read into rows of `row`, one by one or as batches. It reads the
            stream to its end.
        output: the file.
        row: the typed dict of its rows.
        desc: of the progress.
        tally: what `work` counts.
        shown: the rows that the progress counts: "read", or "written" if `work` reads far ahead.
        group_rows: rows of a row group, which are held in memory.

    Raises:
        ValueError: a row that was read was neither written nor counted as rejected.
        RuntimeError: `work` ended before the stream.
    """
    tally = tally or Tally()
    read = 0

    def counted() -> Iterator[T]:
        nonlocal read
        for item in stream.items:
            read += stream.size(item)
            yield item

    incoming = counted()
    if shown == "read":
        incoming = progress(incoming, stream.total, desc, stream.size)
    with TableWriter(output, row, group_rows) as writer:
        results = work(incoming)
        if shown == "written":
            results = progress(results, stream.total, desc, rows_of)
        for item in results:
            if isinstance(item, pa.RecordBatch):
                writer.write_columns(dict(zip(item.schema.names, item.columns, strict=True)))
            else:
                writer.write(item)
        if next(incoming, None) is not None:
            raise RuntimeError(f"{desc}: rows were left unread")
    used = writer.rows_written if tally.used is None else tally.used
    write_record(output, read, used, tally.rejected, tally.extra, files=[output, *tally.beside])
