"""Rows sorted into shards on disk, so that memory depends on neither their number nor the shards'.

Writing all Parquet shards at once would hold a row group of each, and the footer of each, which
grows with its groups: gigabytes at 512 shards of 57 million pairs. Plain append-only files need
one small common buffer, and each shard's Parquet file is then written alone.
"""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from workflow_scripts.core.space import explained

_PREFIX = ".spill-"
_BUFFER_CHARACTERS = 1 << 24


class Spill:
    """Rows of three strings without line feeds, grouped by shard, in a folder of its own."""

    def __init__(self, parent: Path, shards: int):
        """Prepare for `shards` shards below `parent`.

        What a killed predecessor left there is removed. Were it still running, it would fail at
        its next write: only files that are complete ever get their final names.
        """
        parent.mkdir(parents=True, exist_ok=True)
        for stale in parent.glob(f"{_PREFIX}*"):
            shutil.rmtree(stale, ignore_errors=True)
        self._folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        self._buffers: list[list[str]] = [[] for _ in range(shards)]
        self._buffered = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def add(self, shard: int, row: tuple[str, str, str]) -> None:
        """Append a row to a shard."""
        self._buffers[shard].extend(row)
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
        """Yield a shard's rows in the order of `add`."""
        self._flush()
        if not self._path(shard).exists():
            return
        with self._path(shard).open(encoding="utf-8", newline="\n") as stream:
            fields = (line.removesuffix("\n") for line in stream)
            yield from zip(fields, fields, fields, strict=True)

    def _path(self, shard: int) -> Path:
        return self._folder / f"{shard}.txt"
