"""The run's tables for programs: TSV files with the figures in full (docs/release.md).

Each table has a header line and one row for each figure or set of figures. The stages declare the
tables.
"""

import argparse
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import run, words
from workflow_scripts.core.files.atomic import write_text
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.tsv import escape, table_text
from workflow_scripts.core.report.finished_run import add_arguments, finished_run, named
from workflow_scripts.core.report.section import load
from workflow_scripts.core.report.table import Table

# The record of the files.
RECORD = "tables"


def tsv(table: Table) -> str:
    """Return a table as text, a line for each row."""
    return table_text(table.columns, (map(_field, row) for row in table.rows))


def _field(value: Any) -> str:
    return "" if value is None else escape(str(value))


def main(argv: list[str] | None = None) -> None:
    """Write the tables of a run as TSV files."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    add_arguments(parser)
    parser.add_argument(
        "--tables", type=named, nargs="+", required=True, metavar="NAME=MODULE:FUNCTION"
    )
    parser.add_argument("--output", type=Path, required=True, help="folder")
    arguments = parser.parse_args(words(argv))
    finished = finished_run(arguments)
    tables = {name: load(function)(finished) for name, function in arguments.tables}
    files = [arguments.output / f"{name}.tsv" for name in tables]
    for path, table in zip(files, tables.values(), strict=True):
        write_text(path, tsv(table))
    write_record(arguments.output / RECORD, 0, 0, {}, files=files)


if __name__ == "__main__":
    run(main)
