"""The environment of Snakemake, which its jobs inherit.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import getpass
import os
import sys
from pathlib import Path

from workflow_scripts.core.errors import InputError


def user_name() -> str:
    """Return the name of the user; in a container the user's number may have no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid-{os.getuid()}"


def require_utf8() -> None:
    """Refuse a Python that takes names of files for something else than UTF-8.

    Raises:
        InputError: in such a locale, or with PYTHONUTF8=0.
    """
    encoding = sys.getfilesystemencoding()
    if encoding.lower() not in ("utf-8", "utf8"):
        raise InputError(
            f"the locale's encoding is {encoding}, so names of files that are not English can't be "
            "read; set PYTHONUTF8=1, or a locale of UTF-8, as LC_ALL=C.UTF-8, and run again"
        )


def require_good_place(folder: str) -> None:
    """Refuse a folder from which the workflow can never run.

    Raises:
        InputError: no search path can hold it, or Snakemake takes it for a pattern.
    """
    reasons = {
        os.pathsep: "separates folders in PYTHONPATH",
        "{": "begins a variable for Snakemake",
        "}": "ends a variable for Snakemake",
    }
    for character, reason in reasons.items():
        if character in folder:
            raise InputError(
                f"the folder of the workflow is {folder}, and {character!r} {reason}; rename the "
                "folder, or move the workflow"
            )


def require_folder(path: str, key: str) -> None:
    """Refuse a path at which there is something, and no folder.

    Args:
        path: of a folder that the workflow makes if it is not there.
        key: of the configuration, which names it.

    Raises:
        InputError: it is a file, or a link to what is not there (a disk that is not mounted).
    """
    place = Path(path)
    if place.is_symlink() and not place.exists():
        raise InputError(
            f"{key}: {path} is a link to {place.readlink()}, which is not there: is its disk "
            "mounted? Else make that folder, or delete the link"
        )
    if place.exists() and not place.is_dir():
        raise InputError(f"{key}: {path} is no folder; name another one, or move it away")


def prepare_environment() -> None:
    """Set the variables that Snakemake and all its processes need.

    - A job's own Snakemake is started with `python -m`. It must not import Python files that happen
      to be in the working directory.
    - Snakemake, PyTorch and others ask for the name of the user, and fail where there is none.
    - Images of containers tell Python to keep no bytecode: each job would compile all that it
      imports again, which costs it as much as the rest of its start.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["LOGNAME"] = user_name()
