"""A table of figures for programs, as a stage contributes it to the release."""

from typing import Any, NamedTuple


class Table(NamedTuple):
    """Names of the columns, and rows of as many values; None is an empty field."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
