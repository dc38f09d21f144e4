"""A table of figures for programs, and how it is written: tab-separated values."""

from typing import Any, NamedTuple

from workflow_scripts.release.export import escape


class Table(NamedTuple):
    """Names of the columns, and rows of as many values; None is an empty field."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def tsv(table: Table) -> str:
    """Return a table as text, a line for each row."""
    lines = (map(_field, row) for row in [table.columns, *table.rows])
    return "".join("\t".join(fields) + "\n" for fields in lines)


def _field(value: Any) -> str:
    return "" if value is None else escape(str(value))
