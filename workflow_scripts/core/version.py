"""Which Paraloom this is: its version, and the commit of its repository."""

import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_NAME = "paraloom"


def version(root: Path = _ROOT) -> str | None:
    """Return the version: that of the checkout, or of the installed package; None if neither."""
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        if project["name"] == _NAME:
            return project["version"]
    except (OSError, ValueError, KeyError):
        pass
    try:
        return metadata.version(_NAME)
    except metadata.PackageNotFoundError:
        return None


def commit(root: Path = _ROOT) -> str | None:
    """Return the commit of the checkout in `root`; None if it is no checkout, or without Git.

    Where tracked files differ from the commit, the text says so.
    """
    try:
        top, head = _git(root, "rev-parse", "--show-toplevel", "HEAD").split("\n")[:2]
        if Path(top).resolve() != root.resolve():
            return None  # the package lies in somebody else's repository
        changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return f"{head}, with changes that are not committed" if changed else head


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    process = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return process.stdout.strip()
