"""Rows sorted into shards on disk. Memory grows neither with the rows nor with the shards.

To write all Parquet shards at once, memory would have to hold a row group and the footer of each
shard: gigabytes with 512 shards of 57 million pairs. Plain files that only grow need one small
common buffer. Each shard's Parquet file is then written alone.
"""

from collections.abc import Iterator
from pathlib import Path

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import TemporaryFolder
from workflow_scripts.core.files.space import explained

_BUFFER_CHARACTERS = 1 << 24


class Spill(TemporaryFolder):
    """Rows of three strings without line feeds, grouped by shard, in a folder of its own."""

    def __init__(self, parent: Path, shards: int):
        """Prepare for `shards` shards below `parent`."""
        super().__init__(parent / "spill")
        self._buffers: list[list[str]] = [[] for _ in range(shards)]
        self._counts = [0] * shards
        self._buffered = 0

    def add(self, shard: int, row: tuple[str, str, str]) -> None:
        """Append a row to a shard."""
        self._buffers[shard].extend(row)
        self._counts[shard] += 1
        self._buffered += sum(map(len, row))
        if self._buffered >= _BUFFER_CHARACTERS:
            self._flush()

    def _flush(self) -> None:
        for shard, fields in enumerate(self._buffers):
            if fields:
                path = self._path(shard)
                with explained(path), path.open("a", encoding="utf-8", newline="\n") as stream:
                    stream.writelines(f"{field}\n" for field in fields)
                fields.clear()
        self._buffered = 0

    def rows(self, shard: int) -> Iterator[tuple[str, str, str]]:
        """Yield a shard's rows in the order of `add`.

        Raises:
            InputError: rows are missing: something removed or cut the file.
        """
        self._flush()
        path, count = self._path(shard), 0
        if path.exists():
            with path.open(encoding="utf-8", newline="\n") as stream:
                fields = (line.removesuffix("\n") for line in stream)
                for row in zip(fields, fields, fields, strict=False):
                    yield row
                    count += 1
        if count != self._counts[shard]:
            raise InputError(
                f"{path}: {count} of the {self._counts[shard]} rows written are left; something "
                "else removed or changed the file. Run again"
            )

    def _path(self, shard: int) -> Path:
        return self._folder / f"{shard}.txt"
