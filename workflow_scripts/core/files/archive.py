"""Text files inside archives, read in place: nothing is ever unpacked onto the disk.

A path that goes on behind a file names a member: `de-en.tgz/europarl-v7.de-en.de`. As nothing is
unpacked, no member's name can lead to another file. Links and devices in an archive are not
members. Names are compared in their normal form: `tar c .` stores `./a` for the path `a`. If
several members have one name, the last one counts, as when the archive is unpacked: `tar -r`
updates files this way.

The first bytes of a file decide what kind of archive it is, not its name.
"""

import fnmatch
import functools
import io
import lzma
import posixpath
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tarfile import EOFHeaderError  # type: ignore[attr-defined]  # typeshed lacks it
from typing import IO, BinaryIO, Self

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.packed import PackedError, suffix_of, unpacked
from workflow_scripts.core.files.regular_files import regular_file

_ENCRYPTED = 0x1
_UNIX = 3
_WILDCARDS = frozenset("*?[")
_CHUNK_BYTES = 1 << 20
# The most bytes of the headers of one member. A name may be long, but a header can claim gigabytes.
_HEADER_BYTES = 1 << 20
# The most bytes of the list of a tar file's members, and about how many one takes besides its name.
_INDEX_BYTES = 1 << 27
_MEMBER_BYTES = 700
# The errors that a damaged file raises. (zipfile: struct.error and ValueError for headers,
# NotImplementedError for methods of compression, RuntimeError for passwords. A chain of headers in
# a tar file recurses.)
READ_ERRORS = (
    PackedError,
    OSError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    struct.error,
    ValueError,
    OverflowError,
    NotImplementedError,
    RuntimeError,
)


def split(path: str | Path) -> tuple[Path, str | None]:
    """Return the file that a path lies in or is, and the member's name or pattern, if any."""
    path = Path(path)
    for parent in path.parents:
        if parent.is_file():
            return parent, path.relative_to(parent).as_posix()
    return path, None


# --- tar ------------------------------------------------------------------------------------


class _Forward:
    """The file that tarfile reads: a stream that goes only forward, with a bound on headers."""

    def __init__(self, stream: BinaryIO):
        self._stream = stream
        self._place = 0
        self._headers = 0
        self._left = 0

    def tell(self) -> int:
        return self._place

    def seek(self, place: int) -> None:
        """Go forward to a place, or to the end if the stream is shorter."""
        if place < self._place:
            raise tarfile.ReadError(f"a header before byte {self._place} points back")
        if self._stream.seekable():
            self._place = self._stream.seek(place)
        while self._place < place and self.read(min(place - self._place, _CHUNK_BYTES)):
            pass

    def read(self, size: int) -> bytes:
        if self._headers:
            self._left -= size
            if self._left < 0:
                raise tarfile.ReadError(
                    f"the header before byte {self._place} takes more than {_HEADER_BYTES:,} bytes"
                )
        data = self._stream.read(size)
        self._place += len(data)
        return data

    def write(self, data: bytes) -> None:
        """Refuse to write; tarfile asks for a file that has this method."""
        raise io.UnsupportedOperation("archives are only read")

    def close(self) -> None:
        """Do nothing: whoever opened the stream closes it."""

    def __enter__(self) -> Self:
        """Begin to read a header; it may contain other headers."""
        if not self._headers:
            self._left = _HEADER_BYTES
        self._headers += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._headers -= 1

    def drain(self) -> None:
        """Read the rest after the end mark: zeros, and the checksums of a packed file."""
        while data := self.read(_CHUNK_BYTES):
            if data.strip(b"\0"):
                raise tarfile.ReadError(
                    f"something follows its end mark, before byte {self._place}; two tar files "
                    "behind one another must be separated"
                )


class _Tar(tarfile.TarFile):
    """A tar file that is read only forward."""

    fileobj: _Forward
    members: list[tarfile.TarInfo]


class _Member(tarfile.TarInfo):
    """A member of a tar file. Damage is an error; tarfile would take it for the end."""

    @classmethod
    def fromtarfile(cls, opened: tarfile.TarFile) -> Self:
        """Read the next header."""
        assert isinstance(opened, _Tar)
        place = opened.fileobj.tell()
        try:
            with opened.fileobj:
                return super().fromtarfile(opened)
        except EOFHeaderError:
            raise
        except tarfile.HeaderError as error:
            if not place:
                raise
            reason = {"empty header": "no end mark"}.get(str(error), str(error))
            raise tarfile.ReadError(f"{reason} at byte {place}") from error


@contextmanager
def _tar_stream(archive: Path) -> Iterator[BinaryIO]:
    """Open a tar file for reading from its beginning, unpacked by its first bytes."""
    with archive.open("rb") as raw:
        suffix = suffix_of(raw.read(8))
        raw.seek(0)
        with unpacked(raw, suffix) if suffix else nullcontext(raw) as stream:
            yield stream


def _is_tar(archive: Path) -> bool:
    with _tar_stream(archive) as stream:
        try:
            tarfile.TarInfo.frombuf(
                stream.read(tarfile.BLOCKSIZE), tarfile.ENCODING, "surrogateescape"
            )
        except EOFHeaderError:
            pass  # one without members
        except tarfile.HeaderError:
            return False
    return True


@contextmanager
def _tar(archive: Path) -> Iterator[_Tar]:
    with _tar_stream(archive) as stream:
        yield _Tar(fileobj=_Forward(stream), tarinfo=_Member, errors="surrogateescape")


@functools.lru_cache(maxsize=4)
def _tar_members(archive: Path, size: int, changed: int) -> dict[str, tarfile.TarInfo]:
    """Return the last member of each name if it is a file. This reads the whole archive."""
    members: dict[str, tarfile.TarInfo] = {}
    taken = 0
    with _tar(archive) as opened:
        while member := opened.next():
            opened.members.clear()  # or it keeps them all
            name = posixpath.normpath(member.name)
            members.pop(name, None)
            member.pax_headers = {}
            taken += len(name) + _MEMBER_BYTES + 100 * len(getattr(member, "sparse", None) or ())
            taken += sum(len(key) + len(value) for key, value in opened.pax_headers.items())
            if taken > _INDEX_BYTES:
                raise tarfile.ReadError(
                    f"its list of members takes more than {_INDEX_BYTES:,} bytes; unpack it"
                )
            if member.isreg():
                members[name] = member
        opened.fileobj.drain()
    return members


# --- zip ------------------------------------------------------------------------------------


def _is_file(member: zipfile.ZipInfo) -> bool:
    kind = stat.S_IFMT(member.external_attr >> 16) if member.create_system == _UNIX else 0
    # A damaged list may have a member without a name, for which `is_dir` has no answer.
    return bool(member.filename) and not member.is_dir() and kind in (0, stat.S_IFREG)


def _zip_members(opened: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    last = {posixpath.normpath(member.filename): member for member in opened.infolist()}
    return {name: member for name, member in last.items() if _is_file(member)}


# --- both -----------------------------------------------------------------------------------


def _members(archive: Path) -> dict[str, tarfile.TarInfo] | dict[str, zipfile.ZipInfo]:
    """Return the regular files in an archive by their names, in their normal form.

    Raises:
        InputError: the file is not an archive.
        READ_ERRORS: it is damaged.
    """
    status = regular_file(archive).stat()
    # In this order: a tar file may end with a zip file, which is found by its end.
    if _is_tar(archive):
        return _tar_members(archive, status.st_size, status.st_mtime_ns)
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as opened:
            return _zip_members(opened)
    raise InputError(
        f"{archive}: can't be read as an archive (neither zip nor tar); zip, tar, and tar packed "
        "as .gz, .bz2, .xz or .zst can. A file that is no archive is named without a member"
    )


def names(archive: Path) -> list[str]:
    """Return the names of the regular files in an archive, in their normal form, sorted.

    Raises:
        InputError: the file is not an archive, or it is damaged.
    """
    try:
        return sorted(_members(archive))
    except READ_ERRORS as error:
        raise InputError(
            f"{archive}: can't be read as an archive ({error}); it is damaged or cut off, fetch it "
            "again"
        ) from error


def expand(path: str) -> list[str]:
    """Return the paths of the members that the pattern in a path matches, sorted.

    A path without a pattern is returned as it is.

    Raises:
        InputError: no member matches.
    """
    archive, member = split(path)
    if member is None or not _WILDCARDS & set(member):
        return [path]
    matching = fnmatch.filter(names(archive), member)
    if not matching:
        raise _missing(archive, member, names(archive))
    return [f"{archive}/{name}" for name in matching]


def _missing(archive: Path, member: str, known: list[str]) -> InputError:
    shown = ", ".join(name[:100] for name in known[:10]) + (", ..." if len(known) > 10 else "")
    return InputError(
        f"{archive}: no file {member} in it; there are {shown or 'none'} (links are no files)"
    )


@contextmanager
def open_member(archive: Path, member: str) -> Iterator[IO[bytes]]:
    """Open one file inside an archive for reading.

    Raises:
        InputError: the archive has no such file (a link is not a file), or it is no archive.
        READ_ERRORS: the archive is damaged.
    """
    members = _members(archive)
    entry = members.get(posixpath.normpath(member))
    if entry is None:
        raise _missing(archive, member, sorted(members))
    if isinstance(entry, zipfile.ZipInfo):
        if entry.flag_bits & _ENCRYPTED:
            raise InputError(f"{archive}: {member} is encrypted; unpack it yourself")
        with zipfile.ZipFile(archive) as opened, opened.open(entry) as stream:
            yield stream
        return
    with _tar(archive) as tar:
        content = tar.extractfile(entry)
        assert content is not None  # it is a regular file
        with content:
            yield content
