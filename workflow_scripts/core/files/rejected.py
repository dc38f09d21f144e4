"""Lists of what a stage rejected, line by line, for people: TSV, compressed by zstd."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import zstandard

from workflow_scripts.core.files.atomic import atomic_path

# How many bytes of a text are shown, or characters where it has been decoded.
SHOWN_BYTES = 200


def escaped(text: str) -> str:
    """Return `text` with tabs, line feeds and other controls as escapes."""
    return repr(text)[1:-1]


def start_of(text: str) -> str:
    """Return the start of a text, escaped."""
    return escaped(text[:SHOWN_BYTES])


@contextmanager
def compressed_lines(path: Path) -> Iterator[Callable[[str], Any]]:
    """Give a function that writes text to a zstd file. The file appears when it is whole."""
    with (
        atomic_path(path) as temporary,
        temporary.open("wb") as raw,
        zstandard.ZstdCompressor().stream_writer(raw) as stream,
    ):
        yield lambda text: stream.write(text.encode("utf-8"))
