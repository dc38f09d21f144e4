"""Stage folders that no run needs (docs/architecture.md, "Versioned files"), and their removal.

A folder stays if a run links to it, if a configuration names a path in it, or if something in it
was written lately. Runs of other working directories that share the results count too: each run
leaves a link to itself in `<results>/.runs/`. If such a run can't be read, nobody knows what it
needs. Then nothing is garbage.
"""

import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.commands.runs.run_list import found_below, run_folders, size_of
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.run.results_lock import COLLECTION, ResultsLock
from workflow_scripts.plan.run.run_folders import MOUNTED, USERS, read_config, root_of
from workflow_scripts.stages.catalogue import STAGES

_KEY = re.compile(r"v\d+-[0-9a-f]{12}")
_DELETED = ".deleted"


class Garbage(NamedTuple):
    """A folder that no run needs; `paths`: it, its logs and benchmarks; `size`: its bytes."""

    folder: Path
    paths: list[Path]
    size: int


def results_of(run: Path) -> Path:
    """Return the results folder of a run, links resolved."""
    return (root_of(run) / read_config(run)["results"]).resolve()


def user_links(results: Path) -> dict[Path, Path]:
    """Return the links to the runs that use a results folder, each by the run's folder."""
    return {link.readlink(): link for link in (results / USERS).glob("*") if link.is_symlink()}


def _is_deleted(run: Path) -> bool:
    """Return whether the folder of a run was deleted on purpose.

    Raises:
        InputError: the folder can't be read, so that nobody knows.
    """
    try:
        if _exists(run / "config.yaml"):
            return False
        if _exists(run) or _exists(run.parent / MOUNTED):
            return True
        there = _exists(run.parent)
    except OSError as error:
        raise InputError(f"{run}: {error.strerror}") from error
    why = f"nothing is left in {run.parent}" if there else f"there is no {run.parent}"
    raise InputError(f"{run}: {why}")


def _exists(path: Path) -> bool:
    """Like Path.exists, but raise an OSError if it is not known whether the path exists."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def users_of(results: Path) -> list[Path]:
    """Return the folders of all runs that use a results folder, without deleted runs.

    Raises:
        InputError: some folders can't be read; the message names them.
    """
    users, lost = [], {}
    for run in sorted(user_links(results)):
        try:
            if not _is_deleted(run):
                used = results_of(run)
                if not _exists(used):
                    raise InputError(f"{run}: its results folder {used} is not there")
                users.append(run)
        except InputError as error:
            lost[run] = str(error)
    if lost:
        roots = sorted({str(root_of(run)) for run in lost})
        raise InputError(
            f"{results} is used by runs that can't be looked at, so nothing says what they need, "
            "and nothing is deleted:\n"
            + "".join(f"  {why}\n" for why in lost.values())
            + "Mount their folders, or move them back; a working directory that is gone for good "
            "is forgotten by\n" + "\n".join(f"  paraloom runs forget {root}" for root in roots)
        )
    return users


def forget(working_directory: Path, results: Path) -> list[Path]:
    """Remove the runs of a lost working directory from the list of a results folder.

    Returns:
        These runs.

    Raises:
        InputError: the results folder does not exist, no run of that directory uses it, or such a
            run still exists.
    """
    if not results.is_dir():
        raise InputError(f"{results}: no results folder")
    root = Path(os.path.normpath(working_directory.absolute()))
    links = user_links(results)
    runs = [run for run in sorted(links) if root_of(run) == root]
    if not runs:
        known = ", ".join(sorted({str(root_of(run)) for run in links})) or "none"
        raise InputError(f"no run of {root} uses {results}; there are: {known}")
    for run in runs:
        with suppress(OSError):
            if _exists(run / "config.yaml"):
                raise InputError(f"{run} is still there: to forget a run, delete its folder")
    for run in runs:
        links[run].unlink()
    return runs


def versioned_folders(results: Path) -> Iterator[Path]:
    """Yield the folders of all units of all configurations; nothing else is ever deleted."""
    for stage in STAGES:
        for pattern in ("v*", "*/v*"):
            for path in sorted((results / stage.name).glob(pattern)):
                if path.is_dir() and not path.is_symlink() and _KEY.fullmatch(path.name):
                    yield path


def _texts(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for item in value.values():
                yield from _texts(item)
        case list():
            for item in value:
                yield from _texts(item)
        case str():
            yield value


def needed_by(run: Path) -> set[Path]:
    """Return the folders that a run links to, and all paths that its configuration may mean."""
    root, config, results = root_of(run), read_config(run), results_of(run)
    links = [entry for entry in run.iterdir() if entry.is_symlink()]
    linked = {entry.resolve() for entry in links}
    # The names of links say the same. In a moved run folder links may lead to wrong places.
    linked |= {(results / Path(*e.name.split(".")) / e.readlink().name).resolve() for e in links}
    starts = (root, root / config["data"])
    named = {(start / text).resolve() for text in _texts(config) for start in starts}
    return linked | named


def last_change(folder: Path) -> float:
    """Return the time of the newest change below a folder, in seconds since 1970."""
    return max((status.st_mtime for status in found_below(folder)), default=time.time())


def belongings(results: Path, folder: Path) -> list[Path]:
    """Return a unit's folder, and those of its logs and benchmarks that exist."""
    unit = folder.relative_to(results)
    besides = [
        results / kind / unit.with_name(f"{unit.name}{suffix}")
        for kind, suffixes in (("logs", ("", ".log")), ("benchmarks", ("", ".tsv")))
        for suffix in suffixes
    ]
    return [folder, *(path for path in besides if path.exists())]


def find_garbage(runs: Path, keep_seconds: float) -> list[Garbage]:
    """Return the stage folders that no run needs, of all results folders of the runs below `runs`.

    Args:
        runs: the folder of runs.
        keep_seconds: folders that were changed less than this many seconds ago stay.

    Raises:
        InputError: there is no run, or a run can't be read, so that nobody knows what is needed.
    """
    known = run_folders(runs)
    if not known:
        raise InputError(
            f"no run below {runs}/, so nothing says what is needed; nothing is deleted"
        )
    garbage = []
    for results in sorted({results_of(run) for run in known}):
        users = {run.absolute() for run in [*known, *users_of(results)]}
        needed = {path for run in users for path in needed_by(run)}
        needed |= {parent for path in needed for parent in path.parents}
        for folder in versioned_folders(results):
            inside = folder.resolve() in needed  # part of the results may be a link
            if not inside and time.time() - last_change(folder) >= keep_seconds:
                paths = belongings(results, folder)
                garbage.append(Garbage(folder, paths, size_of(folder)))
    return garbage


@contextmanager
def alone(runs: Path) -> Iterator[None]:
    """Keep Snakemake out of the results folders of the runs.

    A Snakemake that starts meanwhile waits until the block ends.

    Raises:
        InputError: a results folder is in use.
    """
    with ExitStack() as stack:
        for results in sorted({results_of(run) for run in run_folders(runs)}):
            if results.is_dir():
                stack.enter_context(ResultsLock(results, COLLECTION))
        yield


def delete(garbage: list[Garbage]) -> None:
    """Delete folders: each is first renamed, so that it disappears at once, and then deleted.

    Renamed folders that a killed deletion left are deleted too.
    """
    for item in garbage:
        for path in item.paths:
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
