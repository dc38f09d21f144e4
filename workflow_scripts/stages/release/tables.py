"""The run's tables for programs: TSV files with the figures in full (docs/release.md).

Each table has a header line and one row for each figure or set of figures. The stages declare the
tables.
"""

from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.files.atomic import write_text
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.tsv import escape, table_text
from workflow_scripts.core.report.finished_run import finished_run, named
from workflow_scripts.core.report.section import load
from workflow_scripts.core.report.table import Table

# The record of the files.
RECORD = "tables"


def tsv(table: Table) -> str:
    """Return a table as text, a line for each row."""
    frame = table.frame()
    return table_text(list(frame), frame.map(_field).itertuples(index=False))


def _field(value: Any) -> str:
    return "" if value is None else escape(str(value))


def write_tables(config: dict[str, Any], units: list[str], tables: list[str], output: Path) -> None:
    """Write the tables of a run as TSV files.

    Args:
        config: the release's part of the configuration.
        units: `<stage>[/<instance>]=<folder>` of the finished units, in the order of the flow.
        tables: `<name>=<module>:<function>` of each table.
    """
    functions = dict(map(named, tables))
    finished = finished_run(config, units)
    by_name = {name: load(function)(finished) for name, function in functions.items()}
    files = [output / f"{name}.tsv" for name in by_name]
    for path, table in zip(files, by_name.values(), strict=True):
        write_text(path, tsv(table))
    write_record(output / RECORD, 0, 0, {}, files=files)


main = command(write_tables, __name__)
