"""Two parallel text files: line n of one belongs to line n of the other."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from workflow_scripts.core.errors import InputError


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file; only line feeds end one, CRLF and a BOM are taken off.

    Raises:
        InputError: the file is missing, or a line is not UTF-8.
    """
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    raise InputError(
                        f"{path}, line {number} is not UTF-8; convert the file"
                    ) from error
                yield text.removesuffix("\n").removesuffix("\r")
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}") from error


def read_pairs(references: Path, paraphrases: Path) -> Iterator[tuple[str, str]]:
    """Yield the lines of two files side by side.

    Raises:
        InputError: their numbers of lines differ, or are zero.
    """
    lengths = [0, 0]
    for pair in zip_longest(read_lines(references), read_lines(paraphrases)):
        lengths = [length + (line is not None) for length, line in zip(lengths, pair, strict=True)]
        if lengths[0] == lengths[1]:
            yield pair
    if lengths[0] != lengths[1]:
        raise InputError(
            f"{references} has {lengths[0]} lines and {paraphrases} has {lengths[1]}; "
            "they must be parallel, one sentence a line"
        )
    if not lengths[0]:
        raise InputError(f"{references} and {paraphrases} are empty; there is nothing to measure")
