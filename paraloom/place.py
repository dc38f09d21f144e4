"""Where the workflow is: the folder with the Snakefile, its rules, recipes and profiles."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def workflow_folder(package: Path = _PACKAGE) -> Path:
    """Return the folder of the workflow that belongs to this package.

    In a wheel it lies inside the package, in a clone the package lies inside it.
    """
    packed = package / "workflow"
    return packed if (packed / "Snakefile").is_file() else package.parent


WORKFLOW = workflow_folder()
