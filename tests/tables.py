"""Tables as stages write them, for tests that begin in the middle of a run."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.parquet import TableWriter


def write_table(path: Path, kind: type, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write a table of rows of this kind, with its record; return its path."""
    with TableWriter(path, kind) as table:
        for row in rows:
            table.write(row)
    write_record(path, table.rows_written, table.rows_written, {})
    return path
