"""Files of a user: a header, then rows, with tabs between fields and no quotes."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.lines import read_lines
from workflow_scripts.core.statistics.numbers import finite


def read_rows(
    path: Path, required: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number of each line and its fields by column; empty lines are left out.

    Args:
        path: of the file; UTF-8.
        required: columns that it must have, in any order.
        optional: columns that it may have. Others may be there, too.

    Raises:
        InputError: the file can't be read, lacks a required column or has one of these twice, or a
            row has another number of fields than the header.
    """
    lines = enumerate(read_lines(path), start=1)
    _, header = next(lines, (0, ""))
    names = header.split("\t")
    if missing := [name for name in required if name not in names]:
        raise InputError(
            f"{path}, line 1: no column {', '.join(missing)}; the header names the columns "
            f"{', '.join(required)}, separated by tabs"
        )
    if twice := [name for name in (*required, *optional) if names.count(name) > 1]:
        raise InputError(f"{path}, line 1: column {', '.join(twice)} is there twice")
    for number, line in lines:
        if not line:  # as some editors leave at the end
            continue
        fields = line.split("\t")
        if len(fields) != len(names):
            raise InputError(
                f"{path}, line {number} has {len(fields)} fields, the header {len(names)}; "
                "fields are separated by tabs, and no field holds a tab or a line feed"
            )
        yield number, dict(zip(names, fields, strict=True))


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
