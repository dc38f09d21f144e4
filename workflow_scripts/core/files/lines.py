"""The lines of a text file that a user gives."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from workflow_scripts.core.errors import InputError


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file; only line feeds end one, CRLF and a BOM are taken off.

    Raises:
        InputError: the file is missing, or a line is not UTF-8.
    """
    try:
        with path.open("rb") as stream:
            yield from decoded_lines(stream, str(path))
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}") from error


def decoded_lines(stream: BinaryIO, name: str) -> Iterator[str]:
    """Yield the lines of a stream as `read_lines` does; messages call it `name`.

    Raises:
        InputError: a line is not UTF-8.
    """
    for number, line in enumerate(stream, start=1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"{name}, line {number} is not UTF-8; convert the file") from error
        yield text.removesuffix("\n").removesuffix("\r")
