"""The plan of a training: what is in a work folder is gone on with only if it followed the same."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.file_lock import LOCK
from workflow_scripts.stages.train import work_folder


def keep(role: str, work: Path, plan: dict[str, Any], begun: bool) -> None:
    """Follow a plan, see `follow`; another device is another plan only if training has begun.

    Args:
        role: of the model, for messages.
        work: the folder.
        plan: all that a model depends on, and the `device`.
        begun: whether a training in the folder has got somewhere and is not finished.

    Raises:
        InputError: the plan is the same, but the training has got somewhere on another device, from
            whose state it can't go on. It is not thrown away unasked.
    """
    path = work / work_folder.PLAN
    known = read_json(path) if path.exists() else {}
    if known | {"device": plan["device"]} == plan != known:
        if begun:
            raise InputError(
                f"the training in {work} began on device {known['device']} and can't go on "
                f"on {plan['device']}: use that device, or remove the folder to start over"
            )
        write_json(path, plan)
    follow(f"train {role}", work, plan)


def follow(desc: str, work: Path, plan: dict[str, Any]) -> None:
    """Empty the work folder, unless an earlier process followed the very same plan there.

    Args:
        desc: what is trained, for the message.
        work: the folder.
        plan: all that the work in it follows from.
    """
    path = work / work_folder.PLAN
    if path.exists():
        if read_json(path) == plan:
            return
        print(
            f"{desc}: {work} holds work on other data or settings; starting over", file=sys.stderr
        )
    path.unlink(missing_ok=True)  # first: what is half removed follows no plan
    for entry in work.iterdir():
        if entry.name != LOCK:
            remove(entry)
    write_json(path, plan)


def remove(path: Path) -> None:
    """Remove a file, a link, or a folder with all that is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def read_json(path: Path) -> Any:
    """Return a JSON file's value."""
    return json.loads(path.read_text(encoding="utf-8"))
