"""Where the workflow is: the folder with the Snakefile, its rules, recipes and profiles."""

import sys
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def workflow_folder(package: Path = _PACKAGE) -> Path:
    """Return the folder of the workflow that belongs to this package.

    In a wheel it lies inside the package, in a clone the package lies inside it.
    """
    packed = package / "workflow"
    return packed if (packed / "Snakefile").is_file() else package.parent


WORKFLOW = workflow_folder()
# In a wheel the modules of the stages lie there, too: jobs in conda environments get this folder on
# PYTHONPATH, and with it no other package.
if str(WORKFLOW) not in sys.path:
    sys.path.insert(0, str(WORKFLOW))
