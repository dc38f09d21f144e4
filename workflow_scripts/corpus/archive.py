"""Text files inside archives, read in place: nothing is ever unpacked onto the disk.

A path that goes on behind a file names a member: `de-en.tgz/europarl-v7.de-en.de`. So a member's
name can lead nowhere, and links and devices, which a tar file can hold, are no members. Names are
compared in their normal form: `tar c .` stores `./a` for what a path calls `a`.
"""

import fnmatch
import posixpath
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from workflow_scripts.core.errors import InputError

_ENCRYPTED = 0x1
_WILDCARDS = frozenset("*?[")
_DAMAGED = (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError)


def split(path: str | Path) -> tuple[Path, str | None]:
    """Return the file that a path lies in or is, and the member's name or pattern, if any."""
    path = Path(path)
    for parent in path.parents:
        if parent.is_file():
            return parent, path.relative_to(parent).as_posix()
    return path, None


def _is_zip(archive: Path) -> bool:
    return zipfile.is_zipfile(archive)


def _no_archive(archive: Path, error: Exception | None) -> InputError:
    return InputError(
        f"{archive}: can't be read as an archive ({error or 'neither zip nor tar'}); zip, tar, "
        "tar.gz, tar.bz2 and tar.xz can. A file that is no archive is named without a member"
    )


def names(archive: Path) -> list[str]:
    """Return the names of the regular files in an archive, in their normal form, sorted.

    Raises:
        InputError: it is no archive, or damaged.
    """
    try:
        if _is_zip(archive):
            with zipfile.ZipFile(archive) as opened:
                return sorted(_zip_members(opened))
        with tarfile.open(archive) as opened:
            return sorted({posixpath.normpath(each.name) for each in opened if each.isreg()})
    except _DAMAGED as error:
        raise _no_archive(archive, error) from error


def _zip_members(opened: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the files by their names; of one name the last, which updating a zip file appends."""
    files = (each for each in opened.infolist() if not each.is_dir())
    return {posixpath.normpath(each.filename): each for each in files}


def expand(path: str) -> list[str]:
    """Return the paths that a path with a pattern for its members stands for, sorted.

    Any other path stands for itself.

    Raises:
        InputError: no member is meant.
    """
    archive, member = split(path)
    if member is None or not _WILDCARDS & set(member):
        return [path]
    found = fnmatch.filter(names(archive), member)
    if not found:
        raise _missing(archive, member)
    return [f"{archive}/{name}" for name in found]


def _missing(archive: Path, member: str) -> InputError:
    known = names(archive)
    shown = ", ".join(known[:10]) + (", ..." if len(known) > 10 else "")
    return InputError(f"{archive}: no file {member} in it; there are {shown or 'none'}")


@contextmanager
def open_member(archive: Path, member: str) -> Iterator[BinaryIO]:
    """Open one file inside an archive for reading.

    Raises:
        InputError: there is no such file in it (a link is none), or it is no archive.
    """
    wanted = posixpath.normpath(member)
    if _is_zip(archive):
        with zipfile.ZipFile(archive) as opened:
            found = _zip_members(opened).get(wanted)
            if found is None:
                raise _missing(archive, member)
            if found.flag_bits & _ENCRYPTED:
                raise InputError(f"{archive}: {member} is encrypted; unpack it yourself")
            with opened.open(found) as stream:
                yield stream
        return
    try:
        opened = tarfile.open(archive)  # noqa: SIM115 (closed below)
    except _DAMAGED as error:
        raise _no_archive(archive, error) from error
    with opened:
        # The first of that name, without reading on: an archive may be large.
        found = next(
            (each for each in opened if posixpath.normpath(each.name) == wanted and each.isreg()),
            None,
        )
        if found is None:
            raise _missing(archive, member)
        with opened.extractfile(found) as stream:
            yield stream
