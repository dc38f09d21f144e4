"""What a subcommand on text reads: rows of plain text, TSV, JSON lines or Parquet.

Plain text has a row on each line; where a row has two texts, a tab stands between them. A TSV has a
header, and `|` between the words of a list. What else a table has is kept beside.
"""

import difflib
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from paraloom.requests import ArgumentError
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.lines import read_lines
from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.stages.rewrite.request_lines import (
    BETWEEN,
    FORMS,
    STANDARD_INPUT,
    SUFFIXES,
    form_of,
    json_value,
    standard_input,
)

PARQUET = "parquet"
READ = (*FORMS, PARQUET)
STANDARD = Path("-")
_ROWS_AT_ONCE = 256
# What the API of the rewriter calls columns.
_OF_API = {"use": "keep", "number": "n"}
# How like a column's name another one is that is taken for a slip.
_ALIKE = 0.8


@dataclass(frozen=True)
class Columns:
    """The columns that a subcommand knows.

    `texts`: each row has them; `lists`, `numbers` and `others`: a row may have them.
    """

    texts: tuple[str, ...]
    lists: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def known(self) -> tuple[str, ...]:
        """All of them."""
        return self.texts + self.optional

    @property
    def optional(self) -> tuple[str, ...]:
        """Those that a row may have."""
        return self.lists + self.numbers + self.others


class Row(NamedTuple):
    """A row: where it stands, what it says in columns that the subcommand knows, and all others."""

    place: str
    known: dict[str, Any]
    others: dict[str, Any]


class Table(NamedTuple):
    """A file: the names of its columns, as rows have them, first those not known; and its rows."""

    header: tuple[str, ...]
    rows: Iterator[Row]


def kind_of(path: Path) -> str:
    """Return which of `READ` a file is by its name.

    Raises:
        InputError: it is of another form, whose lines are no rows.
    """
    return PARQUET if path.suffix.lower() == ".parquet" else form_of(path.name)


def opened(path: Path, form: str | None, columns: Columns, reserved: Collection[str] = ()) -> Table:
    """Return the table of a file, whose header is read; JSON has that of its first line.

    Args:
        path: of the file; - is the standard input, from where it stands.
        form: one of `READ`; None: what the name of the file says, text where it says nothing.
        columns: what the subcommand knows.
        reserved: names that the answer has; no other column may be called so.

    Raises:
        InputError: the header is not as it should be, or, as rows come, one of them; the message
            has its file and line.
        ArgumentError: a form must be given.
    """
    name = STANDARD_INPUT if path == STANDARD else str(path)
    kind = form or kind_of(path)
    if kind == PARQUET:
        header, found = _of_parquet(path)
    else:
        lines = standard_input() if path == STANDARD else read_lines(path)
        if form is None and path.suffix.lower() not in SUFFIXES:
            lines = _plain(name, lines, columns)
        header, found = _READERS[kind](name, lines, columns)
    _require_columns(name if kind == PARQUET else f"{name}, line 1", header, columns, reserved)
    known = [each for each in columns.known if each in header]
    others = [each for each in header if each not in known]
    return Table((*others, *known), _rows(found, set(header), columns, reserved))


Found = Iterator[tuple[str, dict[str, Any]]]


def _plain(name: str, lines: Iterator[str], columns: Columns) -> Iterator[str]:
    """Return lines that are taken for plain text.

    Raises:
        ArgumentError: the first one is an object, or the header of a table.
    """
    for first in lines:
        looks = "tsv" if "\t" in first and set(columns.texts) <= set(first.split("\t")) else None
        with suppress(InputError):
            looks = "jsonl" if isinstance(json_value(first), dict) else looks
        if looks:
            raise ArgumentError(
                f"{name} looks like a table; name the form: --from {looks} (or text)"
            )
        return chain([first], lines)
    return lines


def _of_text(name: str, lines: Iterator[str], columns: Columns) -> tuple[Sequence[str], Found]:
    names = columns.texts

    def found() -> Found:
        for number, line in enumerate(lines, start=1):
            place = f"{name}, line {number}"
            texts = line.split("\t") if len(names) > 1 else [line]
            if len(texts) != len(names):
                raise InputError(
                    f"{place}: {len(texts)} texts with tabs between, not {len(names)} "
                    f"({', '.join(names)})"
                )
            yield place, dict(zip(names, texts, strict=True))

    return names, found()


def _of_tsv(name: str, lines: Iterator[str], columns: Columns) -> tuple[Sequence[str], Found]:
    first = next(lines, None)
    header = columns.texts if first is None else [cell.strip() for cell in first.split("\t")]

    def found() -> Found:
        for number, line in enumerate(lines, start=2):
            place = f"{name}, line {number}"
            cells = [cell.strip() for cell in line.split("\t")]
            if cells == [""] and len(header) > 1:
                continue
            if len(cells) != len(header):
                raise InputError(f"{place}: {len(cells)} columns, but the header has {len(header)}")
            pairs = zip(header, cells, strict=True)
            yield place, {key: _value(key, cell, columns) for key, cell in pairs}

    return header, found()


def _value(name: str, cell: str, columns: Columns) -> Any:
    """Return what a cell of a TSV stands for, None for an empty one that may be left out.

    Where a number is none, whoever asks for it says so.
    """
    if not cell and name in columns.optional:
        return None
    if name in columns.lists:
        return [word.strip() for word in cell.split(BETWEEN) if word.strip()]
    if name in columns.numbers:
        with suppress(ValueError):
            return int(cell) if cell.isascii() and cell.isdigit() else float(cell)
    return cell


def _of_json(name: str, lines: Iterator[str], columns: Columns) -> tuple[Sequence[str], Found]:
    def found() -> Found:
        for number, line in enumerate(lines, start=1):
            place = f"{name}, line {number}"
            if not line.strip():
                raise InputError(f"{place} is empty; take it out")
            try:
                fields = json_value(line)
            except InputError as error:
                raise InputError(f"{place}: {error}") from error
            if not isinstance(fields, dict):
                raise InputError(f'{place}: must be an object such as {{"text": "A sentence."}}')
            yield place, fields

    objects = found()
    for place, fields in objects:
        return list(fields), chain([(place, fields)], objects)
    return columns.texts, objects


_READERS: dict[str, Callable[[str, Iterator[str], Columns], tuple[Sequence[str], Found]]] = {
    "text": _of_text,
    "tsv": _of_tsv,
    "jsonl": _of_json,
}


def _of_parquet(path: Path) -> tuple[Sequence[str], Found]:
    import pyarrow as pa  # slow: only where there is such a file
    import pyarrow.parquet as pq

    if path == STANDARD:
        raise InputError("Parquet can't be read from the standard input; name the file")
    faults = (OSError, ValueError, pa.ArrowException)

    def found() -> Found:
        number = 0
        try:
            with file:
                for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
                    for fields in batch.to_pylist():
                        number += 1
                        yield f"{path}, row {number}", fields
        except faults as error:
            raise InputError(f"{path} can't be read as Parquet: {error}") from error

    try:
        file = pq.ParquetFile(path)
        return file.schema_arrow.names, found()
    except faults as error:
        raise InputError(f"{path} can't be read as Parquet: {error}") from error


def _require_columns(
    place: str, names: Collection[str], columns: Columns, reserved: Collection[str]
) -> None:
    """Refuse names of columns that can't be, or of which a wish would be lost.

    Raises:
        InputError: one stands there twice, is missing, is one of the answer, or nearly one that is
            known.
    """
    if len(set(names)) < len(names):
        raise InputError(f"{place}: the header has a column twice; give it another name")
    for name in columns.texts:
        if name not in names:
            near = suggestion(name, list(names), "columns") if names else ""
            raise InputError(f"{place}: there is no {name}{near}")
    others = [name for name in names if name not in columns.known]
    if taken := [name for name in others if name in reserved]:
        raise InputError(
            f"{place}: the answer has columns of its own called {', '.join(taken)}; give those "
            "another name"
        )
    for name in others:
        plain = name.casefold()
        meant = [_OF_API.get(plain, plain)]
        meant = difflib.get_close_matches(meant[0], columns.optional, 1, _ALIKE)
        if meant and (plain in _OF_API or len(name) <= len(meant[0]) + 1):
            raise InputError(
                f"{place}: no column {name} is known; did you mean '{meant[0]}'? If not, give it "
                "another name"
            )


def _rows(
    found: Found, header: set[str], columns: Columns, reserved: Collection[str]
) -> Iterator[Row]:
    """Yield the rows of the fields of lines; a null is as good as nothing in a known column.

    Raises:
        InputError: a text is not there, or is none; or JSON has not what a column holds.
    """
    for place, fields in found:
        if fields.keys() != header:
            _require_columns(place, fields, columns, reserved)
        for name in columns.texts:
            if not isinstance(fields[name], str):
                null = "; it is null" if fields[name] is None else ""
                raise InputError(f"{place}: {name} must be a text{null}")
        known = {name: fields[name] for name in columns.known if fields.get(name) is not None}
        others = {}
        for name in fields:
            if name not in columns.known:
                try:
                    others[name] = _as_json(fields[name])
                except (TypeError, ValueError, RecursionError) as error:
                    raise InputError(
                        f"{place}: the column {name} can't be repeated: {error}; take it out"
                    ) from error
        yield Row(place, known, others)


def _as_json(value: Any) -> Any:
    """Return a value as JSON has it, times in the form of ISO 8601.

    Raises:
        TypeError, ValueError: JSON has none such.
    """
    if value is None or isinstance(value, str):
        return value
    return json.loads(json.dumps(value, allow_nan=False, default=_as_text))


def _as_text(value: Any) -> str:
    if isinstance(value, Decimal):
        return str(value)
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    raise TypeError(f"it holds {type(value).__name__}")
