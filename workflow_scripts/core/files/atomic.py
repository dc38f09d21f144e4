"""Files that appear whole or not at all, also when two processes write the same one."""

from __future__ import annotations

import errno
import glob
import json
import os
import shutil
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from workflow_scripts.core.files.space import explained

if TYPE_CHECKING:
    from typing import Self  # Sockeye 2's Python, 3.8, imports this module too

# Folders whose names are on disk, by device and inode: a job writes many files into few of them.
_NAMED: set[tuple[int, int]] = set()


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Give a unique temporary path in the folder of `path`, renamed onto it when the block ends.

    The data is on disk (fsync) before the rename. When the block has ended, the new name and the
    names of the folders above it are on disk too: what is made of the file later never outlives
    it. On an exception the temporary file goes away and `path` stays as it was. An orphaned writer
    of the same file only ever renames its own complete copy. Files that killed writers of it left
    on this machine are removed.

    Raises:
        InputError: the disk is full; the message names `path`.
    """
    path = Path(path)
    with explained(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    for leftover in leftovers(path):
        leftover.unlink(missing_ok=True)
    temporary = temporary_path(path)
    try:
        with explained(path):
            yield temporary
            _sync(temporary)
            temporary.replace(path)
            _sync_names(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def temporary_path(path: Path) -> Path:
    """Return a name next to `path` that no other process uses; it holds machine and process."""
    process = os.getpid()
    name = f"{_prefix(path)}{process}-{start_of(process)}.{uuid.uuid4().hex[:8]}.tmp"
    return path.with_name(name)


def leftovers(path: Path) -> Iterator[Path]:
    """Yield the temporary files of `path` whose processes died on this machine."""
    for temporary in path.parent.glob(f"{glob.escape(_prefix(path))}*.tmp"):
        process, _, start = temporary.name.split(".")[-3].partition("-")
        if not _is_alive(int(process), start):
            yield temporary


def _prefix(path: Path) -> str:
    return f".{path.name}.{socket.gethostname()}."


def start_of(process: int) -> str:
    """Return when a process started, in ticks since the machine's start.

    Empty if it is gone or a zombie, which writes no more, and where nothing tells.
    """
    fields: list[str] = []
    with suppress(OSError):
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
        fields = status.rpartition(")")[2].split()
    return fields[19] if len(fields) > 19 and fields[0] != "Z" else ""


def _is_alive(process: int, start: str) -> bool:
    """Tell whether a process lives; a later one may have got its number."""
    if found := start_of(process):
        return start in (found, "")
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's, of which nothing tells
        return True
    return not start


# What a file system answers that has no fsync of folders.
_NO_SYNC = (errno.EINVAL, errno.EBADF, errno.ENOTSUP)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC or not path.is_dir():
            raise
    finally:
        os.close(descriptor)


def _sync_names(folder: Path) -> None:
    """Put the names in a folder on disk, its own name too, and so on up to the mount point.

    Snakemake makes the folders of outputs and does not sync them. Without this, a power cut could
    remove a folder, and leave another one that was made of it.
    """
    _sync(folder)
    folder = folder.resolve()
    status = folder.stat()
    for above in folder.parents:
        own, parent = (status.st_dev, status.st_ino), above.stat()
        if own in _NAMED or parent.st_dev != status.st_dev:
            return
        with suppress(OSError):  # not readable for this user, who did not make it
            _sync(above)
        _NAMED.add(own)
        status = parent


def sync_tree(folder: Path) -> None:
    """Put a folder and all files and names below it on disk: what a folder names goes first."""
    for path in reversed([folder, *folder.rglob("*")]):
        if not path.is_symlink():
            _sync(path)


def publish_folder(unfinished: Path, folder: Path) -> None:
    """Rename a folder to `folder`, which is not there: after a power cut it is whole or absent."""
    sync_tree(unfinished)
    unfinished.rename(folder)
    _sync_names(folder.parent)


def unpublish_folder(folder: Path, unfinished: Path) -> None:
    """Remove a folder that `publish_folder` made: what interrupts it leaves it whole or absent."""
    remove_folder(unfinished)
    folder.rename(unfinished)
    _sync(folder.parent)
    remove_folder(unfinished)


def remove_folder(folder: Path) -> None:
    """Remove a folder if it is there; after a power cut it does not come back."""
    shutil.rmtree(folder, ignore_errors=True)
    _sync(folder.parent)


class TemporaryFolder:
    """What works in a folder of its own, `self._folder`, which goes away at its end."""

    def __init__(self, path: Path):
        """Make the folder, next to `path` and under a name that no other process uses.

        Folders that a killed process of this machine left there are removed.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        for leftover in leftovers(path):
            shutil.rmtree(leftover, ignore_errors=True)
        self._folder = temporary_path(path)
        self._folder.mkdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        remove_folder(self._folder)


def copy_file(path: str | Path, copy: str | Path) -> None:
    """Copy a file to `copy`, atomically."""
    with atomic_path(copy) as temporary:
        shutil.copyfile(path, temporary)


def write_text(path: str | Path, text: str) -> None:
    """Write `text` as UTF-8, atomically."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: str | Path, value: Any) -> None:
    """Write `value` as JSON with sorted keys, atomically; NaN and infinity are refused."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    write_text(path, text + "\n")
