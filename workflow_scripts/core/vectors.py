"""Word vectors in the text format of word2vec and GloVe."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.packed_lines import read_lines

# The longest line: 100,000 numbers.
_MOST_BYTES = 1 << 21
# Of a number of words: Python refuses to read numbers of thousands.
_MOST_DIGITS = 20


def read_vectors(path: str | Path) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield each word of a file with its vector: a line is the word and its numbers, by blanks.

    A first line of two numbers says how many words and numbers there are, as in word2vec's files.
    The file may be compressed (.gz, .bz2, .xz, .zst). Of a word that comes twice the first vector
    counts.

    Raises:
        InputError: the file can't be read, a line is not what it should be, or there are more or
            fewer than the first line says.
    """
    path = Path(path)
    known: set[str] = set()
    announced = dimension = None
    count = 0
    for number, line in enumerate(read_lines(path, _MOST_BYTES), 1):
        word, numbers = _fields(path, number, line)
        if number == 1 and len(numbers) == 1 and _is_count(word) and _is_count(numbers[0]):
            announced, dimension = int(word), int(numbers[0])
            continue
        vector = _vector(path, number, numbers, dimension)
        dimension = len(vector)
        count += 1
        if word not in known:
            known.add(word)
            yield word, vector
    if not count:
        raise InputError(f"{path}: there are no word vectors in it")
    if announced is not None and count != announced:
        raise InputError(
            f"{path}: {count} word vectors where its first line says {announced}; it is cut off or "
            "put together, fetch it again or correct that line"
        )


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < _MOST_DIGITS


def _fields(path: Path, number: int, line: bytes) -> tuple[str, list[str]]:
    if len(line) > _MOST_BYTES:
        raise InputError(f"{path}, line {number}: more than {_MOST_BYTES} bytes; remove it")
    try:
        # GloVe has words with blanks of other kinds in them: only this one separates.
        word, *numbers = line.decode("utf-8").rstrip(" \r").split(" ")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, line {number}: not UTF-8; convert the file") from error
    return word, numbers


def _vector(
    path: Path, number: int, numbers: list[str], dimension: int | None
) -> NDArray[np.float32]:
    try:
        with np.errstate(over="ignore"):  # it becomes infinite, which is refused
            vector = np.array(numbers, dtype=np.float32)
    except ValueError as error:
        raise InputError(f"{path}, line {number}: not a word and its numbers ({error})") from error
    # Python's numbers may have other digits than 0 to 9, and underscores among them.
    plain = all(each.isascii() and "_" not in each for each in numbers)
    if not plain or not len(vector) or not np.isfinite(vector).all():
        raise InputError(f"{path}, line {number}: not a word and its numbers; remove the line")
    if dimension is not None and len(vector) != dimension:
        raise InputError(
            f"{path}, line {number}: {len(vector)} numbers where the lines before have "
            f"{dimension}; correct or remove the line"
        )
    return vector
