"""What a run leaves in its working directory besides stage folders.

`runs/<name>/`: its resolved configuration and links to its stage folders. `.snakemake/`: who is
alive there.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import errno
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

import yaml

from workflow_scripts.core.environment import require_folder, user_name
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_text
from workflow_scripts.core.files.seal import SEAL, read_sealed
from workflow_scripts.core.files.space import explained, require
from workflow_scripts.core.files.yaml_text import parse_yaml
from workflow_scripts.plan.config import Config

if TYPE_CHECKING:
    from workflow_scripts.plan.layout import Layout

RUNS = Path("runs")
# Below a results folder: a link to every run that uses it, of whatever working directory.
USERS = ".runs"
# Below `runs`: tells a folder whose runs were deleted from an empty mount point.
MOUNTED = ".mounted"
_MOUNTED_TEXT = "While this file is here, a run that is missing beside it was deleted on purpose.\n"

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


def link_name(stage: str, instance: str | None) -> str:
    """Return the name of a unit's link in the folder of a run."""
    return ".".join(part for part in (stage, instance) if part)


def run_folder(name: Path) -> Path:
    """Return the folder of a run that is given by its name or its folder.

    A run comes before another folder of its name: the working directory may have a `demo`.
    """
    of_a_run = (RUNS / name / "config.yaml").exists() or not name.is_dir()
    return RUNS / name if of_a_run else name


def root_of(run: Path) -> Path:
    """Return the working directory of a run; `runs` may be a link to another disk."""
    absolute = run.absolute()
    return (absolute if absolute.parent.name == RUNS.name else run.resolve()).parents[1]


def read_config(run: Path) -> Config:
    """Return the resolved configuration of the run in folder `run`.

    Raises:
        InputError: there is no such run, or its configuration is damaged.
    """
    path = run / "config.yaml"
    try:
        config = parse_yaml(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise InputError(
            f"{run}: no run there ({error.strerror}: {path}); name a folder below {RUNS}/ of the "
            "working directory"
        ) from error
    except (UnicodeDecodeError, InputError):
        config = None
    kinds = {"run": dict, "results": str}
    if not (
        isinstance(config, dict)
        and all(isinstance(config.get(key), kind) for key, kind in kinds.items())
    ):
        raise InputError(
            f"{path} is empty or damaged: start the run again, which writes it anew, or delete "
            f"{run} to forget the run"
        )
    return config


def link_run(layout: "Layout", runs: Path = RUNS) -> Path:
    """Write `runs/<name>/config.yaml` and a link `<stage>[.<instance>]` to each folder.

    Links of an earlier configuration of the same name are replaced.

    Raises:
        InputError: the disk is full, or too full to begin; or no folder can be made there.
    """
    run = runs / layout.config["run"]["name"]
    for folder in (runs, run):
        require_folder(str(folder), "the links of runs")
    with explained(run):
        run.mkdir(parents=True, exist_ok=True)
        for entry in run.iterdir():
            if entry.is_symlink():
                entry.unlink()
        for stage, instance in layout.units():
            link = run / link_name(stage, instance)
            folder = Path(layout.folder(stage, instance)).absolute()
            link.symlink_to(os.path.relpath(folder, run.resolve()))  # `runs` may be a link
        write_text(run / "config.yaml", yaml.safe_dump(layout.config, sort_keys=False))
        if not (runs / MOUNTED).exists():
            write_text(runs / MOUNTED, _MOUNTED_TEXT)
        _register(run.absolute(), Path(layout.config["results"]) / USERS)
    require(runs)
    return run


def _register(run: Path, users: Path) -> None:
    """Tell the results folder that the run uses it, for the collection of garbage."""
    users.mkdir(parents=True, exist_ok=True)
    link = users / f"{run.name}-{hashlib.sha256(str(run).encode()).hexdigest()[:8]}"
    with suppress(FileExistsError):
        link.symlink_to(run)


def remove_stale_locks(folder: Path = Path(".snakemake")) -> IO[bytes]:
    """Remove what a Snakemake that was killed left, so that the same command just goes on.

    These are its locks, and its marks of jobs that ended after it.

    Snakemake's own locks are files, which outlive a kill -9. Every Snakemake of this workflow
    therefore also holds a shared lock of the operating system, which ends with its process; one
    that gets it exclusively is alone, and what locks it finds are stale. (Not the Snakemake inside
    a job: a cluster's job may outlive the one that submitted it.) Where the file system
    knows no such locks nothing is removed (`snakemake --unlock` remains).

    Returns:
        The locked file; it must stay open as long as the process lives.

    Raises:
        InputError: the disk is full, or this user may not write here.
    """
    alive = _open_alive(folder)
    with suppress(OSError):
        fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for lock in (folder / "locks").glob("*.lock"):
            lock.unlink()
        forget_finished_jobs(folder / "incomplete")
    with suppress(OSError):
        fcntl.flock(alive, fcntl.LOCK_SH)
    return alive


def forget_finished_jobs(incomplete: Path) -> list[str]:
    """Remove the marks of jobs that are finished, which Snakemake would do once more.

    Snakemake marks the outputs of a job when it starts it, and removes the marks when it hears of
    its end: on a cluster that is a while later, and a power cut may bring them back. Before a job
    starts, Snakemake removes its outputs, and a job writes its record last: where the record is,
    the job has ended.

    Args:
        incomplete: Snakemake's folder of marks, each named by its output's path.

    Returns:
        The outputs whose marks are removed.
    """
    marks = {}
    for mark in incomplete.rglob("*"):
        encoded = "".join(part.removeprefix("@") for part in mark.relative_to(incomplete).parts)
        with suppress(ValueError):
            if mark.is_file():
                marks[urlsafe_b64decode(encoded).decode()] = mark
    # A record stands beside the files of its job, or above a folder of them.
    folders = {parent for path in marks for parent in Path(path).parents[:2]}
    done = sorted(marks.keys() & {path for folder in folders for path in _recorded(folder)})
    for path in done:
        marks[path].unlink()
    return done


def _recorded(folder: Path) -> Iterator[str]:
    """Yield the outputs of the jobs whose records are in a folder, the records among them."""
    for record in folder.glob("*.json"):
        try:
            files = read_sealed(record)
        except (OSError, ValueError):
            continue
        paths = [folder / name for name in files.get("files", ())]
        if SEAL in files and all(path.exists() for path in paths):
            yield from (*map(str, paths), str(record))


def _open_alive(folder: Path) -> IO[bytes]:
    with explained(folder):
        try:
            folder.mkdir(exist_ok=True)
            if os.access(folder, os.W_OK):
                path = folder / "alive"
                # Another user's file is locked as well as one's own. NFS has exclusive locks for
                # files that are written, and shared ones for files that are read.
                return path.open("a+b" if os.access(path, os.W_OK) or not path.exists() else "rb")
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
    here = Path.cwd()
    raise InputError(
        f"{here / folder}: user {user_name()} may not write there, and Snakemake must, for a dry "
        "run as well. Start it in a working directory of your own, with the absolute path of "
        "'results' in the configuration; how far a run is, "
        f"`paraloom status --run {here / RUNS}/NAME` says"
    )


def cancel_orphans(alive: IO[bytes], patience: float = 60.0) -> list[str]:
    """Cancel the Slurm jobs that a killed Snakemake left in this working directory.

    They would run beside their doubles, or, from the queue, long after them, and begin by deleting
    what those wrote. Nothing happens where there is no Slurm, nor while another Snakemake may be
    alive here.

    Args:
        alive: what `remove_stale_locks` returned.
        patience: seconds to wait until the cancelled jobs are gone.

    Returns:
        The numbers of the jobs.
    """
    return _cancel_jobs([Path.cwd()], patience) if _is_alone(alive) else []


def cancel_orphans_in(folders: list[str], patience: float = 60.0) -> list[str]:
    """Cancel jobs that killed Snakemakes left in other working directories that used these results.

    Where a Snakemake is alive, with other results, its jobs are left alone.
    """
    dead = []
    for folder in map(Path, folders):
        try:
            path = folder / ".snakemake" / "alive"
            with path.open("r+b" if os.access(path, os.W_OK) else "rb") as alive:
                if _is_alone(alive):
                    dead.append(folder)
        except OSError:  # moved, or deleted: nobody works there
            dead.append(folder)
    return _cancel_jobs(dead, patience)


def _is_alone(alive: IO[bytes]) -> bool:
    """Tell whether nobody else holds the file, which is held as before afterwards."""
    try:
        fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        with suppress(OSError):
            fcntl.flock(alive, fcntl.LOCK_SH)
    return True


def _cancel_jobs(folders: list[Path], patience: float) -> list[str]:
    if shutil.which("squeue") is None or not folders:
        return []
    orphans = _slurm_jobs(folders)
    if orphans:
        print(f"cancelling Slurm jobs of a killed run: {', '.join(orphans)}", file=sys.stderr)
        subprocess.run(["scancel", *orphans], check=False)
        deadline = time.monotonic() + patience
        while set(orphans) & set(_slurm_jobs(folders)) and time.monotonic() < deadline:
            time.sleep(1)
    return orphans


def _slurm_jobs(folders: list[Path]) -> list[str]:
    """Return the user's jobs, waiting or running, that a Snakemake submitted in some folders.

    Snakemake's plugin calls them all by the UUID of the run, which may have a prefix.
    """
    command = ["squeue", f"--user={os.getuid()}", "--noheader", "--format=%A|%j|%Z"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    rows = re.findall(r"^(\d+)\|(.*)\|(.*)$", done.stdout, re.MULTILINE)
    wanted = set(map(str, folders))
    return [number for number, name, where in rows if _UUID.search(name) and where in wanted]
