"""What a run leaves in its working directory besides stage folders.

`runs/<name>/`: its resolved configuration and links to its stage folders. `.snakemake/`: who is
alive there.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

import yaml

from workflow_scripts.core.atomic import write_text
from workflow_scripts.core.config import Config
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.layout import Layout
from workflow_scripts.core.space import explained, require

RUNS = Path("runs")
# Below a results folder: a link to every run that uses it, of whatever working directory.
USERS = ".runs"

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


def link_name(stage: str, instance: str | None) -> str:
    """Return the name of a unit's link in the folder of a run."""
    return ".".join(part for part in (stage, instance) if part)


def read_config(run: Path) -> Config:
    """Return the resolved configuration of the run in folder `run`.

    Raises:
        InputError: there is no such run.
    """
    try:
        return yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise InputError(
            f"{run}: no run there ({error}); name a folder below {RUNS}/ of the working directory"
        ) from error


def link_run(layout: Layout, runs: Path = RUNS) -> Path:
    """Write `runs/<name>/config.yaml` and a link `<stage>[.<instance>]` to each folder.

    Links of an earlier configuration of the same name are replaced.

    Raises:
        InputError: the disk is full, or too full to begin.
    """
    run = runs / layout.config["run"]["name"]
    with explained(run):
        run.mkdir(parents=True, exist_ok=True)
        for entry in run.iterdir():
            if entry.is_symlink():
                entry.unlink()
        for stage, instance in layout.units():
            link = run / link_name(stage, instance)
            link.symlink_to(os.path.relpath(layout.folder(stage, instance), run))
        write_text(run / "config.yaml", yaml.safe_dump(layout.config, sort_keys=False))
        _register(run.resolve(), Path(layout.config["results"]) / USERS)
    require(runs)
    return run


def _register(run: Path, users: Path) -> None:
    """Tell the results folder that the run uses it, for the collection of garbage."""
    users.mkdir(parents=True, exist_ok=True)
    link = users / f"{run.name}-{hashlib.sha256(str(run).encode()).hexdigest()[:8]}"
    with suppress(FileExistsError):
        link.symlink_to(run)


def remove_stale_locks(folder: Path = Path(".snakemake")) -> IO[bytes]:
    """Remove the locks of a Snakemake that was killed, so that the same command just goes on.

    Snakemake's own locks are files, which outlive a kill -9. Every Snakemake of this workflow
    therefore also holds a shared lock of the operating system, which ends with its process; one
    that gets it exclusively is alone, and what locks it finds are stale. (Not the Snakemake inside
    a job: a cluster's job may outlive the one that submitted it.) Where the file system
    knows no such locks nothing is removed (`snakemake --unlock` remains).

    Returns:
        The locked file; it must stay open as long as the process lives.
    """
    with explained(folder):
        folder.mkdir(exist_ok=True)
        alive = (folder / "alive").open("ab")
    with suppress(OSError):
        fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for lock in (folder / "locks").glob("*.lock"):
            lock.unlink()
    with suppress(OSError):
        fcntl.flock(alive, fcntl.LOCK_SH)
    return alive


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
    if shutil.which("squeue") is None:
        return []
    try:
        fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return []
    finally:
        with suppress(OSError):
            fcntl.flock(alive, fcntl.LOCK_SH)
    orphans = _slurm_jobs(Path.cwd())
    if orphans:
        print(f"cancelling Slurm jobs of a killed run: {', '.join(orphans)}", file=sys.stderr)
        subprocess.run(["scancel", *orphans], check=False)
        deadline = time.monotonic() + patience
        while set(orphans) & set(_slurm_jobs(Path.cwd())) and time.monotonic() < deadline:
            time.sleep(1)
    return orphans


def _slurm_jobs(folder: Path) -> list[str]:
    """Return the user's jobs, waiting or running, that a Snakemake submitted in a folder.

    Snakemake's plugin calls them all by the UUID of the run, which may have a prefix.
    """
    command = ["squeue", f"--user={os.getuid()}", "--noheader", "--format=%A|%j|%Z"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    rows = re.findall(r"^(\d+)\|(.*)\|(.*)$", done.stdout, re.MULTILINE)
    return [number for number, name, where in rows if _UUID.search(name) and where == str(folder)]
