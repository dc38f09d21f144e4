"""The jobs of a run: which are under way or failed, how far they are, and what went wrong."""

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from workflow_scripts.core.errors import printable
from workflow_scripts.core.progress import Progress, parse_line
from workflow_scripts.plan.run.events import (
    FAILED,
    STARTED,
    Event,
    event_files,
    is_written,
    read_events,
)
from workflow_scripts.plan.run.run_folders import root_of

RUNNING, INTERRUPTED = "running", "interrupted"
# Progress lines come every ten seconds.
_FRESH_SECONDS = 60
_TAIL_BYTES = 16384
# Failed jobs that are told of one by one.
_SHOWN = 10
_LINE_LETTERS = 300
_NO_MESSAGE = "it ended without a message: killed, or out of memory"


class Job(NamedTuple):
    """A job that has not made its outputs: `state` is running, failed or interrupted."""

    state: str
    rule: str
    log: str | None
    time: float


def latest_jobs(files: Iterable[tuple[list[Event], bool]]) -> dict[str, Job]:
    """Return the latest job of each record that a run has begun to make.

    Args:
        files: the events of each event file, oldest file first, and whether its writer lives.

    Returns:
        The jobs by the path of the record. A job whose Snakemake no longer lives counts as
        interrupted; finished jobs are left out.
    """
    jobs: dict[str, Job] = {}
    for events, lives in files:
        for event in events:
            for record in event.records:
                jobs.pop(record, None)
                if event.kind == STARTED:
                    state = RUNNING if lives else INTERRUPTED
                    jobs[record] = Job(state, event.rule, event.log, event.time)
                elif event.kind == FAILED:
                    jobs[record] = Job(FAILED, event.rule, event.log, event.time)
    return jobs


def jobs_of_run(run: Path) -> tuple[dict[str, Job], bool]:
    """Return `latest_jobs` of the run in folder `run`, and whether a Snakemake works on it.

    A job that outlived its Snakemake (on a cluster they do) still writes its log: it is running.
    """
    files = [(list(read_events(path)), is_written(path)) for path in event_files(run)]
    jobs = latest_jobs(files)
    root = root_of(run)
    for record, job in jobs.items():
        if job.state == INTERRUPTED and job.log and _is_fresh(root / job.log):
            jobs[record] = job._replace(state=RUNNING)
    return jobs, any(lives for _, lives in files)


def _is_fresh(log: Path) -> bool:
    return log.is_file() and time.time() - log.stat().st_mtime < _FRESH_SECONDS


def tail(log: Path) -> list[str]:
    """Return the last lines of a log; none if there is no log, or it can't be read."""
    try:
        with log.open("rb") as stream:
            stream.seek(0, 2)
            stream.seek(max(0, stream.tell() - _TAIL_BYTES))
            return stream.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def last_progress(log: Path) -> Progress | None:
    """Return what the last progress line of a log says."""
    latest = (parse_line(line) for line in reversed(tail(log)))
    return next((progress for progress in latest if progress), None)


def failure(log: Path) -> str:
    """Return the message that a failed job left in its log."""
    lines = [line for line in tail(log) if line.strip() and not parse_line(line)]
    for number, line in reversed(list(enumerate(lines))):
        if line.startswith("error: "):
            return "\n".join(lines[number:]).removeprefix("error: ")
        if line.startswith("Traceback "):
            # Below the frames, which are indented; advice and warnings may follow.
            below = [line for line in lines[number + 1 :] if not line[0].isspace()]
            if below and below[0].startswith("ModuleNotFoundError"):
                return f"{below[0]}; `paraloom setup` installs it, `make setup` in a clone"
            return below[0] if below else _NO_MESSAGE
    if not lines:
        return _NO_MESSAGE
    return f"{_NO_MESSAGE}. Its last line: {printable(lines[-1][:_LINE_LETTERS])}"


def failure_lines(jobs: Iterable[tuple[str, Mapping[str, str], str | None]]) -> list[str]:
    """Return lines that say of failed jobs what they were, why they failed, and where it stands.

    Args:
        jobs: rule, wildcards and log of each. Those of a group may have run well: where one of all
            jobs left a message, those without one are left out.
    """
    failures = []
    for rule, wildcards, log in jobs:
        values = [value for name, value in wildcards.items() if name != "version"]
        # A rule of another workflow, of which this one is a module, may have no log.
        message = failure(Path(log)) if log else "it has no log; see above"
        failures.append((" ".join([rule, *values]), message, log))
    shown = [job for job in failures if not job[1].startswith(_NO_MESSAGE)] or failures
    if not shown:
        return []
    lines = [f"{len(shown):,} {'job' if len(shown) == 1 else 'jobs'} failed:"]
    for name, message, log in sorted(shown, key=lambda job: job[:2])[:_SHOWN]:
        lines += [f"error: {name}: {message}", *([f"  log: {log}"] if log else [])]
    if len(shown) > _SHOWN:
        lines.append(f"and {len(shown) - _SHOWN:,} more")
    return lines
