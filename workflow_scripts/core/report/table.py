"""A table of figures for programs, which a stage adds to the release."""

from typing import Any, NamedTuple


class Table(NamedTuple):
    """Names of the columns, and rows with one value for each column; None is an empty field."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
