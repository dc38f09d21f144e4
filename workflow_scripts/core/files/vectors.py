"""Word vectors in the formats of word2vec, text and binary, and of GloVe.

Published files have faults: PARAGRAM-SL999 holds words that are not UTF-8 and lines that begin with
a blank, GloVe has words with blanks inside. Such an entry is left out and counted.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.packed_lines import opened, read_lines

# The longest line: 100,000 numbers.
_MOST_BYTES = 1 << 21
_MOST_NUMBERS = 100_000
# The longest word of a binary file.
_MOST_WORD_BYTES = 4096
# Of a number of words: Python refuses to read numbers of thousands.
_MOST_DIGITS = 20
# Lines that tell how many numbers a vector has, where no first line says it.
_SAMPLE = 50
# Bytes that text does not have; the numbers of a binary file have them.
_CONTROL = bytes(range(9))

# Why an entry is left out.
TOO_LONG, NOT_UTF8 = "too_long", "not_utf8"
DIMENSION = "dimension"  # it has more or fewer numbers than the others
NOT_NUMBERS = "not_numbers"  # what follows the word are no finite numbers
REPEATED = "repeated"  # its word came before

Entry = tuple[str, NDArray[np.float32]]


def read_vectors(path: str | Path, rejected: Counter[str] | None = None) -> Iterator[Entry]:
    """Yield each word of a file with its vector.

    Text has a word and its numbers on each line, with single blanks between them. A first line of
    two numbers says how many words and numbers there are, as in word2vec's files; without one a
    vector has as many numbers as most of the first lines have. Its content says whether
    it is a binary file of word2vec. The file may be compressed (.gz, .bz2, .xz, .zst).

    Args:
        path: of the file.
        rejected: gets the number of entries that are left out, by reason.

    Raises:
        InputError: the file can't be read, no entry of it is good, or there are more or fewer
            entries than its first line says.
    """
    path, rejected = Path(path), Counter() if rejected is None else rejected
    lines = read_lines(path, _MOST_BYTES)
    sample = list(islice(lines, _SAMPLE + 1))
    header = _header(sample[0]) if sample else None
    if header:
        del sample[0]
    good = [each for each in map(_entry, sample) if not isinstance(each, str)]
    if header:
        good = [each for each in good if len(each[1]) == header[1]]
        if not good and any(byte in _CONTROL for line in sample for byte in line):
            yield from _distinct(path, _binary(path, *header), rejected)
            return
    sizes = Counter(len(vector) for _, vector in good)
    dimension = header[1] if header else max(sizes, key=sizes.__getitem__, default=None)
    found = (_entry(line, dimension) for line in chain(sample, lines))
    yield from _distinct(path, found, rejected, header and header[0])


def summary(path: str | Path, count: int, rejected: Counter[str]) -> str:
    """Return in words how many vectors were read of a file, and what was left out."""
    reasons = ", ".join(f"{reason} {number:,}" for reason, number in sorted(rejected.items()))
    return f"{path}: {count:,} word vectors; left out: {reasons or 'none'}"


def vectors_of(
    vocabulary: list[str], path: str | Path, dimension: int, size: int, key: str
) -> tuple[dict[str, NDArray[np.float32]], dict[str, Any]]:
    """Return the vectors of a vocabulary's words from a file, and add more words of the file.

    Words are added to `vocabulary` until it has `size`. So sentences that are compared later may
    have words that the training text does not have. What was read is printed to stderr.

    Args:
        vocabulary: the words of the training text.
        path: of the file.
        dimension: the numbers that a vector must have.
        size: of the vocabulary, at most.
        key: of the configuration, that says `dimension`.

    Returns:
        The vectors by word; and figures of the file: `read` vectors, `rejected` entries by reason,
        and `known`, how many of the training text's `words` have one.

    Raises:
        InputError: the file is not what it should be, its vectors have another dimension, or it
            has none of the words.
    """
    known = set(vocabulary)
    vectors = {}
    rejected: Counter[str] = Counter()
    read = hits = 0
    for word, vector in read_vectors(path, rejected):
        read += 1
        if len(vector) != dimension:
            raise InputError(
                f"{path}: vectors of {len(vector)} numbers, but {key} is {dimension}; set it to "
                f"{len(vector)}"
            )
        if word not in known and len(vocabulary) < size:
            vocabulary.append(word)
        elif word not in known:
            continue
        hits += word in known
        vectors[word] = vector
    print(
        f"{summary(path, read, rejected)}; {hits:,} of the {len(known):,} words of the training "
        "set have one",
        file=sys.stderr,
    )
    if not hits:
        raise InputError(
            f"{path}: it has none of the {len(known):,} words of the training set, which are in "
            "lower case; name vectors of the references' language"
        )
    figures = {"read": read, "rejected": dict(rejected), "known": hits, "words": len(known)}
    return vectors, figures


def _distinct(
    path: Path, found: Iterator[Entry | str], rejected: Counter[str], announced: int | None = None
) -> Iterator[Entry]:
    """Yield the first vector of each word, and count the other entries by the reason they are."""
    known: set[str] = set()
    entries = 0
    for each in found:
        entries += 1
        if isinstance(each, str):
            rejected[each] += 1
        elif each[0] in known:
            rejected[REPEATED] += 1
        else:
            known.add(each[0])
            yield each
    if not known:
        reasons = ", ".join(f"{reason} {number:,}" for reason, number in sorted(rejected.items()))
        raise InputError(
            f"{path}: there are no word vectors in it (entries that are none: {reasons or 0}); "
            "name a file of word2vec, as text or binary, or of GloVe"
        )
    if announced is not None and entries != announced:
        raise InputError(
            f"{path}: {entries} word vectors where its first line says {announced}; it is cut off "
            "or put together, fetch it again or correct that line"
        )


def _header(line: bytes) -> tuple[int, int] | None:
    """Return the number of words and of numbers in a vector, if a first line says them."""
    fields = line.strip(b" \r").split(b" ")
    counts = all(each.isdigit() and len(each) < _MOST_DIGITS for each in fields)
    return (int(fields[0]), int(fields[1])) if len(fields) == 2 and counts else None


def _entry(line: bytes, dimension: int | None = None) -> Entry | str:
    """Return the word and the vector of a line, or why it has none.

    Args:
        line: of a text file.
        dimension: the numbers that it must have; None: any.
    """
    if len(line) > _MOST_BYTES:
        return TOO_LONG
    try:
        # GloVe has words with blanks of other kinds in them: only this one separates.
        word, *numbers = line.decode("utf-8").strip(" \r").split(" ")
    except UnicodeDecodeError:
        return NOT_UTF8
    if dimension is not None and len(numbers) != dimension:
        return DIMENSION
    try:
        with np.errstate(over="ignore"):  # it becomes infinite, which is refused
            vector = np.array(numbers, dtype=np.float32)
    except ValueError:
        return NOT_NUMBERS
    # Python's numbers may have other digits than 0 to 9, and underscores among them.
    plain = all(each.isascii() and "_" not in each for each in numbers)
    if not plain or not len(vector) or not np.isfinite(vector).all():
        return NOT_NUMBERS
    return word, vector


def _binary(path: Path, words: int, dimension: int) -> Iterator[Entry | str]:
    """Yield the entries of a binary file of word2vec.

    After the first line each is the word, a blank, the numbers as little-endian float32, and in
    some files a line feed.

    Raises:
        InputError: the file has more or fewer entries than its first line says.
    """
    if not 0 < dimension <= _MOST_NUMBERS:
        raise InputError(
            f"{path}: its first line says {dimension} numbers for each word; 1 to "
            f"{_MOST_NUMBERS:,} can be read"
        )
    size = dimension * np.dtype("<f4").itemsize
    with opened(path) as stream:
        stream.readline()
        for number in range(1, words + 1):
            word, numbers = _word(stream), stream.read(size)
            if word is None or len(numbers) < size:
                raise InputError(
                    f"{path}: it ends or goes wrong at word {number} of the {words} that its first "
                    "line says; it is cut off, or no binary file of word2vec"
                )
            vector = np.frombuffer(numbers, "<f4").astype(np.float32)
            yield _checked(word, vector)
        if stream.read(_MOST_WORD_BYTES).strip():
            raise InputError(
                f"{path}: it goes on after the {words} words that its first line says; fetch it "
                "again"
            )


def _word(stream: BufferedReader) -> bytes | None:
    """Return the bytes up to the next blank; None if there is none where a word may end."""
    found = bytearray()
    while byte := stream.read(1):
        if byte == b" ":
            return bytes(found.removeprefix(b"\n"))
        found += byte
        if len(found) > _MOST_WORD_BYTES:
            break
    return None


def _checked(word: bytes, vector: NDArray[np.float32]) -> Entry | str:
    if not np.isfinite(vector).all():
        return NOT_NUMBERS
    try:
        return word.decode("utf-8"), vector
    except UnicodeDecodeError:
        return NOT_UTF8
