"""Word vectors in the text format of word2vec and GloVe."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.errors import InputError


def read_vectors(path: str | Path) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield each word of a file with its vector: a line is the word and its numbers, by blanks.

    A first line of two numbers, word2vec's count and dimension, is passed over. The file may be
    compressed (.gz). Of a word that comes twice the first vector counts.

    Raises:
        InputError: the file can't be read, or a line is not what it should be.
    """
    path = Path(path)
    opened = gzip.open if path.suffix == ".gz" else open
    known: set[str] = set()
    dimension = None
    try:
        with opened(path, "rt", encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, 1):
                # GloVe has words with blanks of other kinds in them: only this one separates.
                word, *numbers = line.rstrip(" \r\n").split(" ")
                if number == 1 and len(numbers) == 1 and word.isdigit() and numbers[0].isdigit():
                    continue
                vector = _vector(path, number, numbers, dimension)
                dimension = len(vector)
                if word not in known:
                    known.add(word)
                    yield word, vector
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: can't be read as word vectors ({error})") from error
    if dimension is None:
        raise InputError(f"{path}: there are no word vectors in it")


def _vector(
    path: Path, number: int, numbers: list[str], dimension: int | None
) -> NDArray[np.float32]:
    try:
        vector = np.array(numbers, dtype=np.float32)
    except ValueError as error:
        raise InputError(f"{path}, line {number}: not a word and its numbers ({error})") from error
    if not len(vector) or not np.isfinite(vector).all():
        raise InputError(f"{path}, line {number}: not a word and its numbers; remove the line")
    if dimension is not None and len(vector) != dimension:
        raise InputError(
            f"{path}, line {number}: {len(vector)} numbers where the lines before have "
            f"{dimension}; correct or remove the line"
        )
    return vector
