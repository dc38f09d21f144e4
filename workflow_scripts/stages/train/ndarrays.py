"""Reading MXNet's files of named arrays (`mx.nd.save`) without MXNet.

The format, little-endian (mxnet 1.8, `src/ndarray/ndarray.cc`): a magic number and eight reserved
bytes; a count and that many arrays; a count and that many names, each a length and its bytes. An
array is a magic number, its storage type, its shape (dimensions, then their sizes), the device
it was on (two integers), its data type and its elements.
"""

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.errors import InputError

_LIST_MAGIC = 0x112
# Of version 2; version 3 differs from it in what it makes of shapes without elements.
_ARRAY_MAGICS = (0xF993FAC9, 0xF993FACA)
_DENSE = 0
_TYPES = {0: "<f4", 1: "<f8", 2: "<f2", 3: "u1", 4: "<i4", 5: "i1", 6: "<i8"}
_MOST_DIMENSIONS = 32

Array = NDArray[np.floating[Any]] | NDArray[np.integer[Any]]


class _Reader:
    """Takes values off the front of a file's bytes."""

    def __init__(self, path: Path):
        self._path = path
        self._data = path.read_bytes()
        self._position = 0

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        end = self._position + count
        if end > len(self._data):
            raise InputError(f"{self._path}: the file ends in the middle of an array")
        taken = self._data[self._position : end]
        self._position = end
        return taken

    def numbers(self, kinds: str) -> tuple[int, ...]:
        """Return the next integers, of the kinds that `struct` knows by these letters."""
        return struct.unpack(f"<{kinds}", self.take(struct.calcsize(f"<{kinds}")))

    def array(self) -> Array:
        """Return the next array."""
        magic, storage, dimensions = self.numbers("IiI")
        if magic not in _ARRAY_MAGICS or storage != _DENSE or dimensions > _MOST_DIMENSIONS:
            raise InputError(
                f"{self._path}: an array that is not of MXNet 1.x and dense "
                f"(magic number {magic:#x}, storage type {storage})"
            )
        shape = self.numbers(f"{dimensions}q")
        _, _, kind = self.numbers("iii")
        if kind not in _TYPES or any(size < 0 for size in shape):
            raise InputError(f"{self._path}: an array of shape {shape} and type {kind}")
        dtype = np.dtype(_TYPES[kind])
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        return np.frombuffer(self.take(size), dtype).reshape(shape)

    def at_end(self) -> bool:
        """Tell whether nothing is left."""
        return self._position == len(self._data)


def read(path: Path) -> dict[str, Array]:
    """Return the arrays of a file by name, in its order.

    Raises:
        InputError: this is no such file, or it is cut short or holds sparse arrays.
    """
    reader = _Reader(path)
    magic, _, count = reader.numbers("QQQ")
    if magic != _LIST_MAGIC:
        raise InputError(f"{path}: no file of MXNet arrays")
    arrays = [reader.array() for _ in range(count)]
    (names,) = reader.numbers("Q")
    if names != count:
        raise InputError(f"{path}: {count} arrays and {names} names")
    named = {reader.take(*reader.numbers("Q")).decode("utf-8"): array for array in arrays}
    if not reader.at_end() or len(named) != count:
        raise InputError(f"{path}: names that are not unique, or more than arrays and names")
    return named
