"""The plan of a training: what is in a work folder is gone on with only if it followed the same."""

from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.training import work_plan
from workflow_scripts.core.training.work_plan import read_json as read_json
from workflow_scripts.stages.train import work_folder


def keep(role: str, work: Path, plan: dict[str, Any], begun: bool) -> None:
    """Follow a plan, see `work_plan.follow`; the device may change until a training has begun.

    Args:
        role: of the model, for messages.
        work: the folder.
        plan: all that a model depends on, and the `device`.
        begun: whether a training in the folder has got somewhere and is not finished.

    Raises:
        InputError: the plan is the same, but the training has got somewhere on another device, from
            whose state it can't go on. It is not thrown away unasked. Or the file is damaged.
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
    work_plan.follow(f"train {role}", path, plan)
