"""The environment of Snakemake, which its jobs inherit.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import getpass
import os


def user_name() -> str:
    """Return the name of the user; in a container the user's number may have no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid-{os.getuid()}"


def prepare_environment() -> None:
    """Set the variables that Snakemake and all its processes need.

    - A job's own Snakemake is started with `python -m`. It must not import Python files that happen
      to be in the working directory.
    - Snakemake, PyTorch and others ask for the name of the user, and fail where there is none.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    os.environ["LOGNAME"] = user_name()
