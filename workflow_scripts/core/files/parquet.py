"""Parquet tables with one declared schema per kind of file, read and written as streams."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from types import NoneType, TracebackType, UnionType
from typing import (
    Annotated,
    Any,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import pyarrow as pa
import pyarrow.parquet as pq

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import atomic_path
from workflow_scripts.core.files.rows import SCHEMA_NAMES

RowT = TypeVar("RowT")
_TYPES = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}


@cache
def schema_of(row: type) -> pa.Schema:
    """Return the schema of a kind of rows, a typed dict (`core.files.rows`)."""
    return pa.schema(_fields(row))


def _fields(row: type) -> list[tuple[str, pa.DataType]]:
    hints = get_type_hints(row, include_extras=True)
    return [(name, _arrow_type(hint)) for name, hint in hints.items()]


def _arrow_type(hint: Any) -> pa.DataType:
    """Return the Arrow type that a type in a typed dict stands for."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):  # a value or None
        (value,) = (argument for argument in arguments if argument is not NoneType)
        return _arrow_type(value)
    if origin is Annotated:
        return pa.type_for_alias(arguments[1])
    if origin is list:
        return pa.list_(_arrow_type(arguments[0]))
    return pa.struct(_fields(hint)) if is_typeddict(hint) else _TYPES[hint]


def read_batches(
    path: str | Path, row: type, columns: list[str] | None = None, batch_size: int = 1024
) -> Iterator[pa.RecordBatch]:
    """Yield the record batches of a file of such rows, in order.

    Raises:
        InputError: the file is not Parquet, or its schema is not the declared one.
    """
    try:
        parquet = pq.ParquetFile(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"{path}: can't be read as Parquet ({error})") from error
    with parquet:
        if not parquet.schema_arrow.equals(schema_of(row)):
            raise InputError(
                f"{path}: its columns are not those of '{SCHEMA_NAMES[row]}': "
                f"{parquet.schema_arrow.names}; it was written by another version, make it again"
            )
        yield from parquet.iter_batches(batch_size=batch_size, columns=columns)


def read_rows(
    path: str | Path, row: type[RowT], columns: list[str] | None = None, batch_size: int = 1024
) -> Iterator[RowT]:
    """Yield the file's rows as dicts, in order; see `read_batches`.

    With `columns` a row has only these keys.
    """
    for batch in read_batches(path, row, columns, batch_size):
        yield from batch.to_pylist()


def count_rows(path: str | Path) -> int:
    """Return the number of rows, from the file's footer alone."""
    return pq.read_metadata(path).num_rows


class TableWriter:
    """Write rows to a Parquet file that appears whole when the block ends.

    Memory holds at most `group_rows` rows and those of one call. The bytes depend on the rows
    alone.
    """

    def __init__(self, path: str | Path, row: type, group_rows: int = 8192):
        self._path = path
        self._schema = schema_of(row)
        self._group_rows = group_rows
        self._rows: list[Mapping[str, object]] = []
        self._tables: list[pa.Table] = []
        self.rows_written = 0

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            temporary = stack.enter_context(atomic_path(self._path))
            self._writer = stack.enter_context(
                pq.ParquetWriter(temporary, self._schema, compression="zstd", compression_level=3)
            )
            self._stack = stack.pop_all()
        return self

    def write(self, row: Mapping[str, object]) -> None:
        """Add one row: a mapping with exactly the schema's columns."""
        if row.keys() != set(self._schema.names):
            raise ValueError(f"columns {sorted(row)} where {sorted(self._schema.names)} belong")
        self._rows.append(row)
        self.rows_written += 1
        if len(self._rows) >= self._group_rows:
            self._flush()

    def write_columns(self, columns: dict[str, Any]) -> None:
        """Add some rows: arrays of one length by the schema's columns, cast to their types."""
        arrays = [pa.array(columns[field.name]).cast(field.type) for field in self._schema]
        table = pa.Table.from_arrays(arrays, schema=self._schema)
        self._take_rows()
        self._tables.append(table)
        self.rows_written += len(table)
        if sum(map(len, self._tables)) >= self._group_rows:
            self._flush()

    def _take_rows(self) -> None:
        if self._rows:
            self._tables.append(pa.Table.from_pylist(self._rows, schema=self._schema))
            self._rows = []

    def _flush(self, end: bool = False) -> None:
        """Write whole groups of rows, so that it makes no difference how the rows came."""
        self._take_rows()
        if not self._tables:
            return
        table = pa.concat_tables(self._tables)
        rows = len(table) if end else len(table) - len(table) % self._group_rows
        if rows:
            self._writer.write_table(table.slice(0, rows), row_group_size=self._group_rows)
        self._tables = [table.slice(rows)] if rows < len(table) else []

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._stack:
            if error is not None:
                raise error
            self._flush(end=True)
