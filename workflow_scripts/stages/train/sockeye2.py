"""Sockeye 2 on MXNet as the training backend: its interpreter, and what it is told."""

import os
import shutil
import subprocess
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.train import arguments, work_folder

VERSION = "2.3.24"
_ENVIRONMENT = "envs/mxnet.yaml"
# Nothing is imported from the working directory; this Python may not know PYTHONSAFEPATH.
_PROBE = """
import sys
if not sys.path[0]:
    del sys.path[0]
import mxnet, sockeye
print(sockeye.__version__)
"""


def find_interpreter(name: str) -> str:
    """Return the path of the interpreter that Sockeye 2 is installed in.

    Args:
        name: a path, or a command that is looked for on the PATH (`compute.mxnet_python`).

    Raises:
        InputError: there is none, or it can't import MXNet and Sockeye 2.
    """
    path = shutil.which(name)
    if path is None:
        instead = f"there is no {name}"
    else:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        probe = subprocess.run(
            [path, "-c", _PROBE], env=environment, capture_output=True, text=True, check=False
        )
        version = probe.stdout.strip()
        if probe.returncode == 0 and version == VERSION:
            return path
        complaint = probe.stderr.strip().splitlines()[-1:] or ["no output"]
        instead = f"{path} has Sockeye {version}" if version else f"{path} says: {complaint[0]}"
    raise InputError(
        f"no Python with Sockeye {VERSION} on MXNet ({instead}): make the environment of "
        f"{_ENVIRONMENT} and set compute.mxnet_python to its interpreter"
    )


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
