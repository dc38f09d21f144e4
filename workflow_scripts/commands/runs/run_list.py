"""The runs of a working directory."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from workflow_scripts.commands.status.run_jobs import jobs_of_run
from workflow_scripts.commands.status.units import run_status
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.report.terminal import fitted_table
from workflow_scripts.plan.run.run_folders import RUNS, read_config


class RunLine(NamedTuple):
    """One run: its state, and how many of its parts are done.

    `done` and `parts` are None if the run's configuration can't be read. `size` is in bytes;
    folders that several runs share count for each of these runs.
    """

    name: str
    started: float
    state: str
    done: int | None
    parts: int | None
    systems: list[str]
    size: int


def run_folders(runs: Path = RUNS) -> list[Path]:
    """Return the folders of all runs, the oldest start first."""
    configs = sorted(runs.glob("*/config.yaml"), key=lambda path: path.stat().st_mtime_ns)
    return [config.parent for config in configs]


def found_below(folder: Path) -> Iterator[os.stat_result]:
    """Yield the status of a folder and of all below it that is not behind links.

    A job that is at work removes its temporary files meanwhile.
    """
    for parent, _, files in os.walk(folder):
        for path in (Path(parent), *(Path(parent, name) for name in files)):
            with suppress(FileNotFoundError):
                yield path.lstat()


def size_of(folder: Path) -> int:
    """Return the bytes of all files below a folder, without those behind links."""
    found = found_below(folder)
    return sum(status.st_size for status in found if not stat.S_ISDIR(status.st_mode))


def run_line(run: Path) -> RunLine:
    """Return what the list says about the run in folder `run`."""
    links = [entry for entry in run.iterdir() if entry.is_symlink()]
    size = sum(size_of(link.resolve()) for link in links if link.exists())
    started = (run / "config.yaml").stat().st_mtime
    try:
        systems = read_config(run)["run"]["systems"]
    except InputError:
        return RunLine(run.name, started, "damaged configuration", None, None, [], size)
    jobs, alive = jobs_of_run(run)
    try:
        states = run_status(run, jobs)
    except InputError:
        return RunLine(run.name, started, "of another version", None, None, systems, size)
    done = sum(state.done for state in states)
    parts = done + sum(state.running + state.failed + state.waiting for state in states)
    state = "finished" if done == parts else "running" if alive else "unfinished"
    if state == "unfinished" and any(unit.failed for unit in states):
        state = "failed"
    return RunLine(run.name, started, state, done, parts, systems, size)


def size_text(size: float) -> str:
    """Return e.g. `1.5 GB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 999.5:  # else three digits would be 1e+03
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} TB"


def describe(lines: list[RunLine]) -> str:
    """Return the list as a table."""
    rows = [
        [
            line.name,
            datetime.fromtimestamp(line.started).strftime("%Y-%m-%d %H:%M"),
            line.state,
            None if line.done is None else f"{line.done:,} of {line.parts:,}",
            size_text(line.size),
            ", ".join(line.systems),
        ]
        for line in lines
    ]
    headers = ["run", "started", "state", "parts done", "size", "systems"]
    align = ["left"] * 3 + ["right"] * 2 + ["left"]
    texts = [name for name in headers if name != "size"]
    return fitted_table(rows, headers, texts=texts, align=align)
