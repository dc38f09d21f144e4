"""The user's files that a run reads: where they are, and their hashes.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import hashlib
import json
from pathlib import Path

from workflow_scripts.core.atomic import write_text
from workflow_scripts.core.config import NO_BRACES, holds_wildcards
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.regular_files import regular_file


def as_list(value: str | list[str]) -> list[str]:
    """Return one path or several as a list."""
    return [value] if isinstance(value, str) else value


def files_below(paths: list[str], key: str) -> list[str]:
    """Return the files among `paths`, and all below the folders among them.

    Raises:
        InputError: a path is missing; `key` is the configuration key that names it.
    """
    files: list[Path] = []
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"{key}: {path}: no such file or folder; correct the path")
        below = path.rglob("*") if path.is_dir() else [regular_file(path, key)]
        files += sorted(each for each in below if each.is_file())
    return [str(path) for path in files]


class FileHashes:
    """SHA-256 of input files, remembered by size and modification time in one JSON file."""

    def __init__(self, cache: Path):
        self._cache = cache
        try:
            self._known = json.loads(cache.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            self._known = {}

    def sha256(self, path: str, key: str) -> str:
        """Return the hash of `path`; `key` is the configuration key that names it."""
        if holds_wildcards(path):
            raise InputError(f"{key}: {path}: {NO_BRACES}")
        regular_file(path, key)
        try:
            status = Path(path).stat()
            stamp = f"{Path(path).absolute()}:{status.st_size}:{status.st_mtime_ns}"
            if stamp in self._known:
                return self._known[stamp]
            with Path(path).open("rb") as stream:
                self._known[stamp] = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise InputError(f"{key}: {path}: {error.strerror}; correct the path") from error
        self._save()
        return self._known[stamp]

    def _save(self) -> None:
        write_text(self._cache, json.dumps(self._known))
