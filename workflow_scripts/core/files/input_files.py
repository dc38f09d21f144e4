"""The user's files that a run reads: where they are, and their hashes.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import errno
import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_text
from workflow_scripts.core.files.paths import NO_BRACES, holds_wildcards
from workflow_scripts.core.files.regular_files import regular_file
from workflow_scripts.core.files.seal import is_sha256

# The cache is written again when it lacks the work of this many seconds.
_SAVE_SECONDS = 5.0
# The coarsest times of file systems: a file may change twice within it and look the same.
_TICK_SECONDS = 2.0
_CHANGED_ADVICE = "nothing was written; start the run again, which reads the file as it is then"


def as_list(value: str | list[str]) -> list[str]:
    """Return one path or several as a list."""
    return [value] if isinstance(value, str) else value


def files_below(paths: Sequence[str], key: str) -> list[str]:
    """Return the files among `paths`, and all below the folders among them.

    Raises:
        InputError: a path is missing; `key` is the configuration key that names it.
    """
    files: list[Path] = []
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"{key}: {path}: no such file or folder; correct the path")
        below = path.rglob("*") if path.is_dir() else [regular_file(path, key)]
        files += sorted(file for file in below if file.is_file())
    return [str(path) for path in files]


class Signature(NamedTuple):
    """What the file system tells about a file. Every edit changes some of it (git looks at it)."""

    size: int
    modified_ns: int
    changed_ns: int
    device: int
    inode: int


def signature(path: str | Path) -> Signature:
    """Return the signature of a file.

    Raises:
        OSError: it can't be read.
    """
    status = Path(path).stat()
    return Signature(
        status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_dev, status.st_ino
    )


class FileHashes:
    """SHA-256 of input files, remembered by their signatures in one JSON file."""

    def __init__(self, cache: Path):
        self._cache = cache
        self._unsaved = 0.0
        self._young: set[str] = set()
        try:
            self._known = dict(json.loads(cache.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):  # it is remembered, no more
            self._known = {}

    def sha256(self, path: str, key: str) -> str:
        """Return the hash of `path`; `key` is the configuration key that names it.

        Raises:
            InputError: the file can't be read, or it was written to meanwhile.
        """
        if holds_wildcards(path):
            raise InputError(f"{key}: {path}: {NO_BRACES}")
        regular_file(path, key)
        name = str(Path(path).absolute())
        try:
            before = signature(path)
            known = self._known.get(name)
            if isinstance(known, list) and known[:-1] == list(before) and is_sha256(known[-1]):
                return known[-1]
            started = time.monotonic()
            digest = _sha256(path)
            if signature(path) != before:
                raise InputError(f"{key}: {path} is being written to; wait until it is complete")
        except OSError as error:
            raise InputError(f"{key}: {path}: {error.strerror}; correct the path") from error
        self._known[name] = [*before, digest]
        # A later edit may leave the same signature (git calls such files racy).
        if time.time_ns() - before.changed_ns < _TICK_SECONDS * 1e9:
            self._young.add(name)
        self._unsaved += time.monotonic() - started
        if self._unsaved > _SAVE_SECONDS:
            self.save()
        return digest

    def save(self) -> None:
        """Write what is known to the cache, if anything of it is new."""
        if self._unsaved:
            self._unsaved = 0.0
            known = {name: entry for name, entry in self._known.items() if name not in self._young}
            try:
                write_text(self._cache, json.dumps(known))
            except OSError as error:  # another user's results: a dry run only looks
                if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                    raise


@contextmanager
def unchanged(hashes: dict[str, str], paths: Sequence[str] = ()) -> Iterator[None]:
    """Read the user's files in the block: they are those that were hashed when the run was planned.

    Args:
        hashes: SHA-256 by path; none where nobody planned the command.
        paths: files and folders in which no other files may be.

    Raises:
        InputError: a file has another content, at the start of the block or at its end, or there is
            a further one.
    """
    _require_no_others(hashes, paths)
    signatures = {}
    for path, expected in hashes.items():
        try:
            signatures[path] = signature(path)
            digest = _sha256(path)
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}; {_CHANGED_ADVICE}") from error
        if digest != expected:
            raise InputError(f"{path} changed since the run was planned; {_CHANGED_ADVICE}")
    yield
    _require_no_others(hashes, paths)
    for path, before in signatures.items():
        try:
            same = signature(path) == before
        except OSError:
            same = False
        if not same:
            raise InputError(f"{path} changed while it was read; {_CHANGED_ADVICE}")


def _require_no_others(hashes: dict[str, str], paths: Sequence[str]) -> None:
    for path in files_below(paths, "data") if hashes else ():
        if path not in hashes:
            raise InputError(f"{path} appeared since the run was planned; {_CHANGED_ADVICE}")


def _sha256(path: str | Path) -> str:
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
