"""The environment of Snakemake, which its jobs inherit.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import getpass
import os


def user_name() -> str:
    """Return the name of the user; in a container there may be none for their number."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid-{os.getuid()}"


def prepare_environment() -> None:
    """Set what Snakemake and all that it starts need.

    - A job's own Snakemake is started with `python -m`, which must not import what happens to lie
      in the working directory.
    - Snakemake, PyTorch and others ask for the name of the user, and fail where there is none.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    os.environ["LOGNAME"] = user_name()
