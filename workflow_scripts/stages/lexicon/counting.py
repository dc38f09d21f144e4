"""Counts of more keys than memory holds: sorted runs on disk that are merged.

A key is one whole number, or two; a block is an array of rows, each with its key and a count, in
rising order of the keys.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.files.atomic import TemporaryFolder
from workflow_scripts.core.files.space import explained

Block = NDArray[np.int64]

# Rows that are in memory before they go to disk, and those of a block of each run.
BUFFER_ROWS = 1 << 22
BLOCK_ROWS = 1 << 15
# Runs that are open at once; a process may open about a thousand files.
MOST_RUNS = 128


def summed(keys: Block, counts: NDArray[np.int64] | None = None) -> Block:
    """Return equal keys as one row each, with the sum of their counts.

    Args:
        keys: in any order, shape (rows, 1 or 2).
        counts: shape (rows,); None: 1 each.
    """
    if not len(keys):
        return np.zeros((0, keys.shape[1] + 1), np.int64)
    if keys.shape[1] == 1 and counts is None:
        ordered = np.sort(keys[:, 0])[:, None]
    else:
        order = np.lexsort(keys.T[::-1])
        ordered = keys[order]
        counts = None if counts is None else counts[order]
    new = np.ones(len(ordered), bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    starts = np.flatnonzero(new)
    if counts is None:
        sums = np.diff(np.append(starts, len(ordered)))
    else:
        sums = np.add.reduceat(counts, starts)
    return np.column_stack([ordered[starts], sums])


def merged(runs: Iterable[Iterator[Block]]) -> Iterator[Block]:
    """Yield the sums of several runs, each in rising order of its keys, in the same order.

    A key is in one block alone. Memory holds one block of each run.
    """
    heads = []
    for run in runs:
        if (block := _next(run)) is not None:
            heads.append((block, run))
    while heads:
        # What is not above the last key of some block can't come again.
        last = min(tuple(block[-1, :-1]) for block, _ in heads)
        done, rest = [], []
        for block, run in heads:
            cut = _rows_up_to(block, last)
            done.append(block[:cut])
            left: Block | None = block[cut:]
            if cut == len(block):
                left = _next(run)
            if left is not None:
                rest.append((left, run))
        heads = rest
        rows = np.concatenate(done)
        yield summed(rows[:, :-1], rows[:, -1])


def _next(run: Iterator[Block]) -> Block | None:
    """Return the next block with rows; None at the end."""
    return next((block for block in run if len(block)), None)


def _rows_up_to(block: Block, last: tuple[np.int64, ...]) -> int:
    """Return how many rows of a block have keys up to `last`."""
    low, high = 0, len(block)
    for place, key in enumerate(last):
        column = block[low:high, place]
        above = low + int(np.searchsorted(column, key, side="right"))
        low, high = low + int(np.searchsorted(column, key)), above
    return high


class Counts(TemporaryFolder):
    """How often keys were added, in a folder of its own as far as memory does not hold them."""

    def __init__(self, parent: Path, name: str, width: int, rows: int = BUFFER_ROWS):
        """Prepare a folder below `parent`.

        Args:
            parent: the folder.
            name: of these counts.
            width: numbers of a key, 1 or 2.
            rows: that are held in memory.
        """
        super().__init__(parent / name)
        self._width, self._most = width, rows
        self._buffer: list[Block] = []
        self._rows = 0
        self._runs: list[Path] = []
        self._written = 0

    def add(self, keys: Block) -> None:
        """Count keys, shape (rows, width)."""
        self._buffer.append(keys)
        self._rows += len(keys)
        if self._rows >= self._most:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._write([summed(np.concatenate(self._buffer))])
        self._buffer, self._rows = [], 0
        if len(self._runs) >= MOST_RUNS:
            runs, self._runs = self._runs, []
            self._write(merged(map(self._read, runs)))
            for path in runs:
                path.unlink()

    def _write(self, blocks: Iterable[Block]) -> None:
        """Write a run."""
        path = self._folder / str(self._written)
        with explained(path), path.open("wb") as stream:
            for block in blocks:
                block.tofile(stream)
        self._runs.append(path)
        self._written += 1

    def blocks(self) -> Iterator[Block]:
        """Yield all counts in rising order of the keys."""
        self._flush()
        yield from merged(map(self._read, self._runs))

    def _read(self, path: Path) -> Iterator[Block]:
        width = self._width + 1
        with path.open("rb") as stream:
            while len(numbers := np.fromfile(stream, np.int64, BLOCK_ROWS * width)):
                yield numbers.reshape(-1, width)
