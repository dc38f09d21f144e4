"""Lines of text, of tab-separated values or of JSON: the requests that a file makes.

Text: a sentence on each line. TSV: a header names the keys of a request, lists have `|` between
their entries. JSON lines: the requests themselves. What a line does not say, `defaults` say.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import PurePath
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.json_text import KeyTwiceError, parse_json
from workflow_scripts.core.files.lines import decoded_lines
from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.stages.rewrite.requests import SCHEMA, Request, RequestError, request_of

FORMS = ("text", "tsv", "jsonl")
SUFFIXES = {".txt": "text", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
# Forms that would be taken for lines of text, and are none.
_OTHERS = {
    ".json": "requests stand one on each line (.jsonl)",
    ".csv": "tables have tabs between their columns (.tsv)",
}
BETWEEN = "|"
# What messages call it.
STANDARD_INPUT = "standard input"
_MOST_DIGITS = 20
_TRUE_FALSE = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def form_of(name: str) -> str:
    """Return which of `FORMS` a file has by its name: text, where its suffix says nothing.

    Raises:
        RequestError: it is of another form, whose lines are no sentences.
    """
    suffix = PurePath(name).suffix.lower()
    if suffix in _OTHERS:
        raise RequestError(
            f"a file of the kind {suffix} is not read: {_OTHERS[suffix]}; give it another name if "
            "it is one, or text (.txt)"
        )
    return SUFFIXES.get(suffix, "text")


def standard_input() -> Iterator[str]:
    """Yield the lines of the standard input, from where it stands.

    Raises:
        InputError: it can't be read, or a line is not UTF-8.
    """
    # Not /dev/stdin, which begins anew; not sys.stdin, whose lock the reader would hold at the end.
    try:
        with open(0, "rb", closefd=False) as stream:
            yield from decoded_lines(stream, STANDARD_INPUT)
    except OSError as error:
        raise InputError(f"{STANDARD_INPUT} can't be read: {error.strerror}") from error


def requests_of(
    lines: Iterable[str], form: str, defaults: dict[str, Any]
) -> Iterator[tuple[int, Request]]:
    """Yield the requests of lines with their line numbers; empty lines are passed over in TSV.

    Args:
        lines: without their ends.
        form: one of `FORMS`.
        defaults: what holds where a line says nothing.

    Raises:
        RequestError: a line makes no request; the message has its number.
    """
    columns: list[str] | None = None
    for number, line in enumerate(lines, start=1):
        try:
            if form == "tsv" and columns is None:
                columns = _columns(line)
                continue
            if form == "tsv" and not line.strip():
                continue
            request = _value_of_line(line, form, columns)
            if not isinstance(request, dict):
                raise RequestError('must be an object such as {"text": "A sentence."}')
            yield number, request_of({**defaults, **request})
        except RequestError as error:
            raise RequestError(f"line {number}: {error}") from error


def _value_of_line(line: str, form: str, columns: list[str] | None) -> Any:
    if form == "text":
        return {"text": line}
    if columns is not None:
        return _cells(line, columns)
    return json_value(line)


def json_value(text: str | bytes) -> Any:
    """Return what JSON says.

    Raises:
        RequestError: it is none, or an object has a key twice, one of whose values would be lost.
    """
    try:
        return parse_json(text)
    except KeyTwiceError as error:
        raise RequestError("a key stands there twice; take one out") from error
    except ValueError as error:
        raise RequestError(f"no JSON: {error}"[:200]) from error


def _columns(line: str) -> list[str]:
    columns = [name.strip() for name in line.split("\t")]
    for name in columns:
        if name not in SCHEMA["properties"]:
            raise RequestError(
                f"the header has a column {name[:50]!r}"
                f"{suggestion(name[:50], list(SCHEMA['properties']))}"
            )
    if "text" not in columns or len(set(columns)) < len(columns):
        raise RequestError("the header needs a column text, and no column twice")
    return columns


def _cells(line: str, columns: list[str]) -> dict[str, Any]:
    cells = line.split("\t")
    if len(cells) != len(columns):
        raise RequestError(f"{len(cells)} columns, but the header has {len(columns)}")
    pairs = zip(columns, cells, strict=True)
    return {name: _value(name, cell.strip()) for name, cell in pairs if cell.strip()}


def _value(name: str, cell: str) -> Any:
    kind = SCHEMA["properties"][name]["type"]
    if kind == "array":
        return [part.strip() for part in cell.split(BETWEEN) if part.strip()]
    if kind == "boolean":
        if cell.lower() not in _TRUE_FALSE:
            raise RequestError(f"{name} must be true or false")
        return _TRUE_FALSE[cell.lower()]
    if kind == "integer":
        if not (cell.isascii() and cell.isdigit() and len(cell) <= _MOST_DIGITS):
            raise RequestError(f"{name} must be a whole number")
        return int(cell)
    if "number" in kind:
        with suppress(ValueError):  # else the schema says what is wrong
            return float(cell)
    return cell
