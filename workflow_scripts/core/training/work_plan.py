"""The plan of a work folder: what is in it is gone on with only if it followed the same plan."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.file_lock import LOCK


def follow(desc: str, path: Path, plan: dict[str, Any]) -> None:
    """Empty a work folder, unless an earlier process followed the very same plan there.

    Args:
        desc: what is trained, for the message.
        path: the file of the plan, in the folder.
        plan: all that the work in the folder follows from.

    Raises:
        InputError: the file is damaged.
    """
    work = path.parent
    if path.exists():
        if read_json(path) == plan:
            return
        print(
            f"{desc}: {work} holds work on other data or settings; starting over",
            file=sys.stderr,
        )
    path.unlink(missing_ok=True)  # first: what is half removed follows no plan
    for entry in work.iterdir():
        if entry.name != LOCK:
            remove(entry)
    write_json(path, plan)


def read_json(path: Path) -> Any:
    """Return the value of a JSON file of a work folder.

    Raises:
        InputError: it is damaged.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path} is damaged ({error}); put it back from a copy, or delete {path.parent}: then "
            "the work in it starts over"
        ) from error


def remove(path: Path) -> None:
    """Remove a file, a link, or a folder with all that is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
