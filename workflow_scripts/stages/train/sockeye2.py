"""Sockeye 2 on MXNet as the training backend: its interpreter, and what it is told."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.train import arguments, interpreter, work_folder

# Of Sockeye: what the launcher knows to resume, and the converter to read. envs has the exact one.
VERSION = "2.3"


def find_interpreter(name: str) -> str:
    """Return the path of the interpreter that Sockeye 2 is installed in.

    Args:
        name: a path, or a command that is looked for on the PATH (`compute.mxnet_python`); or the
            record that the rule `train_mxnet` wrote of its own, a JSON file.

    Raises:
        InputError: there is none, or it can't import MXNet and Sockeye 2.
    """
    text = ""
    try:
        text = Path(name).read_text(encoding="utf-8") if name.endswith(".json") else _asked(name)
        found = json.loads(text)
        path, version = found["python"], found["versions"]["sockeye"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{name} says {text!r}; {interpreter.ADVICE}") from error
    if not version.startswith(f"{VERSION}."):
        raise InputError(f"{path} has Sockeye {version}, not {VERSION}; {interpreter.ADVICE}")
    if not Path(path).exists():
        raise InputError(
            f"{name} names {path}, which does not exist any more; delete {name} and run again"
        )
    return str(path)


def _asked(name: str) -> str:
    """Return what an interpreter says of itself."""
    path = shutil.which(name)
    if path is None:
        raise InputError(f"there is no {name} to train on MXNet; {interpreter.ADVICE}")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    asked = subprocess.run(
        [path, interpreter.__file__], env=environment, capture_output=True, text=True, check=False
    )
    if asked.returncode:
        complaint = asked.stderr.strip().splitlines()[-1:] or [f"error: {path} says nothing"]
        raise InputError(complaint[0].removeprefix("error: "))
    return asked.stdout


def settings(block: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return the settings of a training with Sockeye 2, for its plan.

    The options are those of Sockeye 3. Sockeye 2 can lock devices by files, in a folder that others
    may own. That is disabled: a scheduler hands out the devices.

    Args:
        block: a complete `models` block; `matmul` has no effect.
        seed: as for Sockeye 3.
    """
    train = arguments.train_arguments(block, seed, work_folder.SOCKEYE2_MODEL)
    return {
        "prepare": arguments.prepare_arguments(block),
        "train": [*train, "--disable-device-locking"],
        "by_device": arguments.by_device(block),
    }
