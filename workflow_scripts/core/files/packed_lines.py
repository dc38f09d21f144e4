r"""Lines of plain and compressed files as bytes, in bounded memory.

Only b"\n" ends a line. Python's text mode and str.splitlines also end lines at a lone carriage
return, form feeds, U+0085 or U+2028; one of these inside a sentence would shift all later lines
of a bitext's side against the other side.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.archive import READ_ERRORS, open_member, split
from workflow_scripts.core.files.packed import SUFFIXES, Readable, plain, unpacked
from workflow_scripts.core.files.regular_files import regular_file

_BOM = b"\xef\xbb\xbf"
_ARCHIVE = re.compile(r"\.(zip|tgz|tbz2|txz|tar(\.(gz|bz2|xz|zst))?)$", re.IGNORECASE)
_UNREADABLE = re.compile(r"\.(z|lz|lz4|lzma|lzo|7z|rar)$", re.IGNORECASE)


@contextmanager
def _raw(path: Path) -> Iterator[Readable]:
    """Open a file, or a file inside an archive, as it is."""
    archive, member = split(path)
    if member is None:
        with path.open("rb", buffering=0) as stream:
            yield stream
    else:
        with open_member(archive, member) as stream:
            yield stream


def _require_readable(path: Path) -> None:
    """Check that there is a file, and refuse one that is not text but would be read as text.

    Raises:
        InputError: it is missing, or its suffix is that of an archive, or of another way of
            compression.
    """
    file = split(path)[0]
    if not file.exists():
        raise InputError(f"{path} is not a file; check the paths in the config")
    regular_file(file)
    if _ARCHIVE.search(path.name):
        raise InputError(
            f"{path} is an archive; name the file in it that is meant: {path}/MEMBER (one inside "
            "another archive must be unpacked)"
        )
    if _UNREADABLE.search(path.name):
        raise InputError(
            f"{path}: {path.suffix} files can't be read; unpack it, and compress it as .gz, .bz2, "
            ".xz or .zst if you like"
        )


@contextmanager
def _open(path: Path) -> Iterator[BufferedReader]:
    """Open a file for reading, unpacked by its suffix; several streams are joined."""
    suffix = path.suffix.lower()
    with _raw(path) as raw, unpacked(raw, suffix) if suffix in SUFFIXES else plain(raw) as content:
        yield content


@contextmanager
def opened(path: str | Path) -> Iterator[BufferedReader]:
    """Open a plain or compressed file for reading its bytes, decompressed by suffix.

    Raises:
        InputError: the file is missing, compressed in a way that can't be read, damaged or cut
            off; also where the body of the `with` meets that.
    """
    path = Path(path)
    _require_readable(path)
    try:
        with _open(path) as stream:
            yield stream
    except MemoryError as error:
        raise InputError(f"{path}: there is not enough memory to unpack it; unpack it") from error
    except READ_ERRORS as error:
        raise InputError(
            f"{path}: can't be read to its end ({error}); the file is damaged or cut off, fetch it "
            "again"
        ) from error


def read_lines(path: str | Path, max_bytes: int) -> Iterator[bytes]:
    r"""Yield the lines of a file without their ends (\n or \r\n), decompressed by suffix.

    A line of more than `max_bytes` bytes comes as its first `max_bytes + 1` bytes; the rest of it
    is never held in memory. A UTF-8 byte order mark at the start of the file is removed.

    Raises:
        InputError: the file is missing, compressed in a way that can't be read, damaged or cut
            off.
    """
    path = Path(path)
    _require_readable(path)
    limit = len(_BOM) + max_bytes + len(b"\r\n")
    number = 0
    try:
        with _open(path) as stream:
            while line := stream.readline(limit):
                number += 1
                rest = line
                while not rest.endswith(b"\n") and len(rest) == limit:
                    rest = stream.readline(limit)
                if number == 1:
                    line = line.removeprefix(_BOM)
                yield line.removesuffix(b"\n").removesuffix(b"\r")[: max_bytes + 1]
    except MemoryError as error:
        raise InputError(
            f"{path}: there is not enough memory to unpack it. It was packed with a long window, "
            "as zstd --long does; unpack it on a larger machine (zstd -d --long=31) and pack it "
            "again without"
        ) from error
    except READ_ERRORS as error:
        raise InputError(
            f"{path}: can't be read beyond line {number} ({error}); the file is damaged or cut "
            "off, fetch it again"
        ) from error
