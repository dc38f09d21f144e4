"""Tell what a Python has to train with Sockeye 2 on MXNet; it is run by that Python.

That is Python 3.8, in an environment of its own (envs/mxnet.yaml): this file imports nothing of
ours, and nothing from its folder, where a module has Sockeye's name.
"""

import importlib
import json
import platform
import sys
from pathlib import Path

_PACKAGES = ("sockeye", "mxnet", "numpy")
ADVICE = "give --use-conda, or set compute.mxnet_python to the Python of envs/mxnet.yaml"


def main() -> None:
    """Write the path and the versions as JSON, on standard output and in the file that is named.

    Raises:
        SystemExit: it can't import Sockeye 2 or MXNet; the message says what to do.
    """
    here = Path(__file__).resolve().parent
    sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != here]
    try:
        versions = {name: importlib.import_module(name).__version__ for name in _PACKAGES}
    except Exception as error:  # a library of CUDA's that is missing is an OSError
        sys.exit(f"error: {sys.executable} has no Sockeye 2 on MXNet ({error}): {ADVICE}")
    versions["python"] = platform.python_version()
    record = json.dumps({"python": sys.executable, "versions": versions}, indent=2) + "\n"
    sys.stdout.write(record)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(record, encoding="utf-8")


if __name__ == "__main__":
    main()
