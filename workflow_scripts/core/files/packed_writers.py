"""Compressed text files that are written whole: the same text gives the same bytes."""

from collections.abc import Iterator
from contextlib import contextmanager
from gzip import GzipFile
from io import TextIOWrapper
from pathlib import Path

import zstandard

from workflow_scripts.core.files.atomic import atomic_path

ZSTD_LEVEL = 10


@contextmanager
def zstd_writer(path: Path) -> Iterator[TextIOWrapper]:
    """Open a zstd-compressed UTF-8 text file; it appears, whole, when the block ends."""
    compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True)
    with (
        atomic_path(path) as temporary,
        temporary.open("wb") as raw,
        compressor.stream_writer(raw) as compressed,
        TextIOWrapper(compressed, encoding="utf-8", newline="\n") as text,
    ):
        yield text


@contextmanager
def gzip_writer(path: Path) -> Iterator[TextIOWrapper]:
    """Open a gzip-compressed UTF-8 text file; it appears, whole, when the block ends."""
    with (
        atomic_path(path) as temporary,
        temporary.open("wb") as raw,
        GzipFile("", "wb", fileobj=raw, mtime=0) as compressed,
        TextIOWrapper(compressed, encoding="utf-8", newline="\n") as text,
    ):
        yield text
