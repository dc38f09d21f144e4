"""What a subcommand on text reads: rows of plain text, TSV, JSON lines or Parquet.

Plain text has a row on each line; where a row has two texts, a tab stands between them. A TSV has a
header, and `|` between the words of a list. What else a table has is kept beside.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.lines import read_lines
from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.stages.rewrite.request_lines import BETWEEN, FORMS, form_of, json_value

PARQUET = "parquet"
READ = (*FORMS, PARQUET)
STANDARD = Path("-")
_STANDARD_INPUT = Path("/dev/stdin")
_ROWS_AT_ONCE = 256


@dataclass(frozen=True)
class Columns:
    """The columns that a subcommand knows.

    `texts`: each row has them; `lists`, `numbers`, `others`: a row may have them.
    """

    texts: tuple[str, ...]
    lists: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def known(self) -> tuple[str, ...]:
        """All of them."""
        return self.texts + self.lists + self.numbers + self.others


class Row(NamedTuple):
    """A row: where it stands, the columns that the subcommand knows, and all others."""

    place: str
    known: dict[str, Any]
    others: dict[str, Any]


def kind_of(path: Path) -> str:
    """Return which of `READ` a file is by its name.

    Raises:
        InputError: it is of another form, whose lines are no rows.
    """
    return PARQUET if path.suffix.lower() == ".parquet" else form_of(path.name)


def read_rows(paths: Sequence[Path], form: str | None, columns: Columns) -> Iterator[Row]:
    """Yield the rows of files, in order.

    Args:
        paths: of the files; - is the standard input.
        form: one of `READ`; None: what the name of each file says, text where it says nothing.
        columns: what the subcommand knows.

    Raises:
        InputError: a row is not as it should be; the message has its file and line.
    """
    for path in paths:
        name = "standard input" if path == STANDARD else str(path)
        kind = form or kind_of(path)
        if kind == PARQUET:
            found = _of_parquet(path)
        else:
            lines = read_lines(_STANDARD_INPUT if path == STANDARD else path)
            found = _READERS[kind](lines, columns)
        number = 0
        try:
            for number, fields in found:
                yield _row(
                    f"{name}, {'row' if kind == PARQUET else 'line'} {number}", fields, columns
                )
        except _LineError as error:
            raise InputError(f"{name}, line {error.line}: {error}") from error


class _LineError(Exception):
    """A line can't be read."""

    def __init__(self, line: int, message: str):
        super().__init__(message)
        self.line = line


Found = Iterator[tuple[int, dict[str, Any]]]


def _of_text(lines: Iterable[str], columns: Columns) -> Found:
    names = columns.texts
    for number, line in enumerate(lines, start=1):
        texts = line.split("\t") if len(names) > 1 else [line]
        if len(texts) != len(names):
            raise _LineError(
                number,
                f"{len(texts)} texts with tabs between, not {len(names)} ({', '.join(names)})",
            )
        yield number, dict(zip(names, texts, strict=True))


def _of_tsv(lines: Iterable[str], columns: Columns) -> Found:
    header: list[str] | None = None
    for number, line in enumerate(lines, start=1):
        cells = [cell.strip() for cell in line.split("\t")]
        if header is None:
            header = cells
            if len(set(header)) < len(header):
                raise _LineError(number, "the header has a column twice; give it another name")
            continue
        if cells == [""]:
            continue
        if len(cells) != len(header):
            raise _LineError(number, f"{len(cells)} columns, but the header has {len(header)}")
        yield (
            number,
            {
                name: _value(number, name, cell, columns)
                for name, cell in zip(header, cells, strict=True)
                if cell or name in columns.texts
            },
        )


def _value(number: int, name: str, cell: str, columns: Columns) -> Any:
    """Return what a cell of a TSV stands for."""
    if name in columns.lists:
        return [word.strip() for word in cell.split(BETWEEN) if word.strip()]
    if name in columns.numbers:
        if not (cell.isascii() and cell.isdigit() and len(cell) < 10):
            raise _LineError(number, f"{name} is {cell[:20]!r}, and must be a whole number")
        return int(cell)
    return cell


def _of_json(lines: Iterable[str], _: Columns) -> Found:
    for number, line in enumerate(lines, start=1):
        try:
            fields = json_value(line)
        except InputError as error:
            raise _LineError(number, str(error)) from error
        if not isinstance(fields, dict):
            raise _LineError(number, 'must be an object such as {"text": "A sentence."}')
        yield number, fields


_READERS: dict[str, Callable[[Iterable[str], Columns], Found]] = {
    "text": _of_text,
    "tsv": _of_tsv,
    "jsonl": _of_json,
}


def _of_parquet(path: Path) -> Found:
    import pyarrow as pa  # slow: only where there is such a file
    import pyarrow.parquet as pq

    if path == STANDARD:
        raise InputError("Parquet can't be read from the standard input; name the file")
    number = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
                for fields in batch.to_pylist():
                    number += 1
                    yield number, {key: each for key, each in fields.items() if each is not None}
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path} can't be read as Parquet: {error}") from error


def _row(place: str, fields: dict[str, Any], columns: Columns) -> Row:
    """Return the row of the fields of a line.

    Raises:
        InputError: a text is not there, or is none.
    """
    for name in columns.texts:
        if name not in fields:
            raise InputError(f"{place}: there is no {name}{suggestion(name, list(fields), 'ones')}")
        if not isinstance(fields[name], str):
            raise InputError(f"{place}: {name} must be a text")
    known = {name: fields[name] for name in columns.known if name in fields}
    return Row(place, known, {name: fields[name] for name in fields if name not in known})
