"""Tables as text: tabs between fields, a line for each row, no quotes. A field is never a number.

Reading, each line is cut by itself: one line of a million tabs makes no other line wider.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.lines import read_lines
from workflow_scripts.core.statistics.numbers import finite

# As PostgreSQL's COPY text format: a field never holds what ends a field or a line.
_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})


def fields(path: Path, lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of each line; lines may have different numbers of fields.

    Args:
        path: of the file.
        lines: the file's, from the first one, without line feeds.

    Raises:
        InputError: a line has a NUL.
    """
    for number, line in enumerate(lines, start=1):
        if "\0" in line:
            raise InputError(
                f"{path}, line {number}: NUL, which no text has; convert the file to UTF-8"
            )
        yield number, line.split("\t")


def read_rows(
    path: Path, required: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number of each line behind the header and its fields by column, but empty lines.

    Args:
        path: of the file; UTF-8.
        required: columns that it must have, in any order.
        optional: columns that it may have. Others may be there, too.

    Raises:
        InputError: the file can't be read, lacks a required column or has one of these twice, or a
            row has another number of fields than the header.
    """
    rows = fields(path, read_lines(path))
    _, names = next(rows, (0, [""]))
    if missing := [name for name in required if name not in names]:
        raise InputError(
            f"{path}, line 1: no column {', '.join(missing)}; the header names the columns "
            f"{', '.join(required)}, separated by tabs"
        )
    if twice := [name for name in (*required, *optional) if names.count(name) > 1]:
        raise InputError(f"{path}, line 1: column {', '.join(twice)} is there twice")
    for number, row in rows:
        if row == [""]:  # as some editors leave at the end
            continue
        if len(row) != len(names):
            raise InputError(
                f"{path}, line {number} has {len(row)} fields, the header {len(names)}; "
                "fields are separated by tabs, and no field holds a tab or a line feed"
            )
        yield number, dict(zip(names, row, strict=True))


def number_of(row: dict[str, str], name: str) -> float | None:
    """Return the number in a column of a row; None where the column or its value is missing.

    Raises:
        ValueError: it is no finite number.
    """
    text = row.get(name, "").strip()
    try:
        return finite(text) if text else None
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def escape(text: str) -> str:
    r"""Return `text` with backslash, tab, line feed and carriage return as \\, \t, \n and \r."""
    return text.translate(_ESCAPES)


def table_text(columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a table as text; None is an empty field.

    Args:
        columns: two or more names.
        rows: the values; no text in them has a tab or a line feed.
    """
    text = io.StringIO()
    # A lone quotation mark is text as any other.
    form: Any = {"delimiter": "\t", "quoting": csv.QUOTE_NONE, "quotechar": None}
    writer = csv.writer(text, lineterminator="\n", **form)
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def one_line(rows: Iterable[Sequence[str]]) -> Iterator[list[str]]:
    """Yield the rows with a blank for all that stands between the words of their texts."""
    for row in rows:
        yield [" ".join(text.split()) for text in row]
