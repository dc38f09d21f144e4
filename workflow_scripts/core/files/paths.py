"""Paths and names of the user's files that the workflow can handle.

The Snakefile imports this module: only the standard library.
"""

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

NO_BRACES = "Snakemake takes braces for wildcards; rename the file or folder"


class Located(str):
    """Where a file or folder of the user's is, as commands get it.

    Attributes:
        folder: the one that holds the user's files, if there is one.
    """

    folder: str | Path | None

    def __new__(cls, path: str | Path, folder: str | Path | None = None) -> "Located":
        """Take a path, and the folder that its name is relative to, if there is one."""
        located = super().__new__(cls, path)
        located.folder = folder
        return located

    @property
    def name(self) -> str:
        """What manifests call it, the same on every machine.

        It is the file's path in the folder, or its own name if it is elsewhere.
        """
        whole = _without_dots(self)
        if self.folder is not None and whole.is_relative_to(within := _without_dots(self.folder)):
            return whole.relative_to(within).as_posix()
        return whole.name


def _without_dots(path: str | Path) -> Path:
    """Return an absolute path without `..`; links stay, for what they are called is the name."""
    return Path(os.path.normpath(Path(path).absolute()))


def with_names(value: Any) -> Any:
    """Return a copy of settings in which every `Located` path is its name."""
    if isinstance(value, Located):
        return value.name
    if isinstance(value, dict):
        return {with_names(key): with_names(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [with_names(item) for item in value]
    return value


def without_folders(value: Any, folder: str | Path) -> Any:
    """Return a copy of a configuration in which absolute paths are names, as `Located` has them.

    Args:
        value: the configuration, or a part of it.
        folder: that of the user's files.
    """
    if isinstance(value, str) and Path(value).is_absolute():
        return Located(value, folder).name
    if isinstance(value, dict):
        return {key: without_folders(item, folder) for key, item in value.items()}
    if isinstance(value, list):
        return [without_folders(item, folder) for item in value]
    return value


def file_name(url: str) -> str:
    """Return the name under which what a URL gives is kept: its last part, made harmless."""
    name = unquote(urlsplit(url).path).rpartition("/")[2]
    return re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".-") or "file"


def holds_wildcards(path: str) -> bool:
    """Tell whether Snakemake would see wildcards, or the beginning of one, in a path."""
    return "{" in path or "}" in path
