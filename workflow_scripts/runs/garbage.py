"""Stage folders that no run needs (DESIGN 4), and their removal.

A folder stays if a run links it, if a configuration names a path in it, or if anything in it was
written lately. Runs of other working directories that share the results count as well: each run
leaves a link to itself in `<results>/.runs/`.
"""

import fcntl
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.runs import USERS, read_config
from workflow_scripts.runs.catalogue import run_folders, size_of
from workflow_scripts.stages import STAGES

_KEY = re.compile(r"v\d+-[0-9a-f]{12}")
_DELETED = ".deleted"


class Garbage(NamedTuple):
    """A folder that no run needs, with all that belongs to it (logs, benchmarks); bytes."""

    folder: Path
    paths: list[Path]
    size: int


def _root(run: Path) -> Path:
    return run.resolve().parents[1]


def results_of(run: Path) -> Path:
    """Return the results folder of a run."""
    return (_root(run) / read_config(run)["results"]).resolve()


def users_of(results: Path) -> list[Path]:
    """Return the folders of all runs that use a results folder, as far as they still exist."""
    links = (results / USERS).glob("*")
    return [link.resolve() for link in links if (link / "config.yaml").is_file()]


def versioned_folders(results: Path) -> Iterator[Path]:
    """Yield the folders of all units of all configurations; nothing else is ever touched."""
    for stage in STAGES:
        for pattern in ("v*", "*/v*"):
            for path in sorted((results / stage.name).glob(pattern)):
                if path.is_dir() and not path.is_symlink() and _KEY.fullmatch(path.name):
                    yield path


def _texts(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for each in value.values():
                yield from _texts(each)
        case list():
            for each in value:
                yield from _texts(each)
        case str():
            yield value


def needed_by(run: Path) -> set[Path]:
    """Return the folders that a run links, and every path that its configuration could mean."""
    root, config = _root(run), read_config(run)
    linked = {entry.resolve() for entry in run.iterdir() if entry.is_symlink()}
    starts = (root, root / config["data"])
    named = {(start / text).resolve() for text in _texts(config) if "/" in text for start in starts}
    return linked | named


def last_change(folder: Path) -> float:
    """Return the time of the newest change below a folder, in seconds since 1970."""
    return max(path.lstat().st_mtime for path in (folder, *folder.rglob("*")))


def belongings(results: Path, folder: Path) -> list[Path]:
    """Return a unit's folder, and its logs and benchmarks that exist."""
    unit = folder.relative_to(results)
    besides = [
        results / kind / unit.with_name(f"{unit.name}{suffix}")
        for kind, suffixes in (("logs", ("", ".log")), ("benchmarks", ("", ".tsv")))
        for suffix in suffixes
    ]
    return [folder, *(path for path in besides if path.exists())]


def find_garbage(runs: Path, keep_seconds: float) -> list[Garbage]:
    """Return what no run needs in the results folders of the runs below `runs`.

    Args:
        runs: the folder of runs.
        keep_seconds: what was changed less than so long ago stays.

    Raises:
        InputError: there is no run, so that nothing says what is needed.
    """
    known = run_folders(runs)
    if not known:
        raise InputError(
            f"no run below {runs}/, so nothing says what is needed; nothing is deleted"
        )
    found = []
    for results in sorted({results_of(run) for run in known}):
        users = {run.resolve() for run in [*known, *users_of(results)]}
        needed = {path for run in users for path in needed_by(run)}
        for folder in versioned_folders(results):
            inside = any(path == folder or folder in path.parents for path in needed)
            if not inside and time.time() - last_change(folder) >= keep_seconds:
                paths = belongings(results, folder)
                found.append(Garbage(folder, paths, size_of(folder)))
    return found


@contextmanager
def alone(runs: Path) -> Iterator[None]:
    """Keep Snakemake out of every working directory that shares results with the runs.

    One that is started meanwhile waits at its start until the block ends.

    Raises:
        InputError: a Snakemake lives in one of them, or its file system knows no locks.
    """
    users = {user for run in run_folders(runs) for user in users_of(results_of(run))}
    roots = sorted({_root(run) for run in [*run_folders(runs), *users]})
    with ExitStack() as stack:
        for root in roots:
            (root / ".snakemake").mkdir(exist_ok=True)
            alive = stack.enter_context((root / ".snakemake" / "alive").open("ab"))
            try:
                fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise InputError(
                    f"a Snakemake is at work in {root}; wait until it has ended"
                ) from error
            except OSError as error:
                raise InputError(
                    f"{root}: its file system knows no locks ({error.strerror}), so nobody can "
                    "tell whether a Snakemake is at work; delete the folders listed by hand"
                ) from error
        yield


def delete(garbage: list[Garbage]) -> None:
    """Delete folders: each disappears at once, and is then taken apart.

    What a deletion left that was killed is taken apart as well.
    """
    for each in garbage:
        for path in each.paths:
            for stale in path.parent.glob(f".*{_DELETED}"):
                _remove(stale)
            doomed = path.with_name(f".{path.name}{_DELETED}")
            path.rename(doomed)
            _remove(doomed)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
