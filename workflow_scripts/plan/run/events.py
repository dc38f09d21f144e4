"""The events of every job of a run. Snakemake's process writes them as they happen.

Snakemake's own log has no events with `--quiet`, and never says which attempt failed.
`runs/<name>/events/<time>-<process>.jsonl` always has them, one JSON object a line. Its writer
holds a lock of the operating system on it, so that a reader knows whether the writer still lives.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import fcntl
import json
import logging
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

STARTED, FINISHED, FAILED = "started", "finished", "failed"
FOLDER = "events"


class Event(NamedTuple):
    """One event of one job.

    `records` are the records (`.json`) among its outputs and `log` is its log file, as the rules
    name them, relative to the working directory; `time` is in seconds since 1970.
    """

    time: float
    kind: str
    rule: str
    records: list[str]
    log: str | None


class EventHandler(logging.Handler):
    """Handler of Snakemake's logger that writes the events of jobs, and nothing else."""

    def __init__(self, folder: Path):
        """Write into a new file below `folder`, which is made with the first event."""
        super().__init__()
        self._folder = folder
        self._stream: Any = None
        self._jobs: dict[int, Event] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Write one message of Snakemake if it is an event of a job; most are not."""
        said = vars(record)
        try:
            match str(said.get("event")):
                case "job_info":
                    records = [path for path in map(str, said["output"]) if path.endswith(".json")]
                    log = str(said["log"][0]) if said["log"] else None
                    started = Event(time.time(), STARTED, said["rule_name"], records, log)
                    self._jobs[said["jobid"]] = started
                    self._write(started)
                case "job_finished":
                    self._follow(said["job_id"], FINISHED)
                case "job_error":
                    self._follow(said["jobid"], FAILED)
                case "group_error":
                    for job in said["job_error_info"]:
                        self._follow(job["jobid"], FAILED)
        except OSError:
            self.handleError(record)  # a full disk stops no run for the sake of its status

    def _follow(self, job: int, kind: str) -> None:
        if job in self._jobs:
            self._write(self._jobs[job]._replace(time=time.time(), kind=kind))

    def _write(self, event: Event) -> None:
        if self._stream is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
            path = self._folder / f"{stamp}-{os.getpid()}.jsonl"
            self._stream = path.open("a", encoding="utf-8")
            with suppress(OSError):  # a file system without locks
                fcntl.flock(self._stream, fcntl.LOCK_EX)
        self._stream.write(json.dumps(event._asdict()) + "\n")
        self._stream.flush()


def record_events(run: Path) -> None:
    """Make Snakemake's logger in this process write the events of the run in folder `run`."""
    logger = logging.getLogger("snakemake.logging")
    if not any(isinstance(handler, EventHandler) for handler in logger.handlers):
        logger.addHandler(EventHandler(run / FOLDER))


def is_written(path: Path) -> bool:
    """Tell whether the process that writes an event file still lives.

    NFS has shared locks for files that are read, and exclusive ones for files that are written.
    Without locks nobody is seen.
    """
    with path.open("rb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as error:
            return isinstance(error, BlockingIOError)
    return False


def read_events(path: Path) -> Iterator[Event]:
    """Yield the events of a file in order.

    A last line that is not whole yet is left out, and so is one that a crash of the machine or a
    bad disk has damaged: they say how far a run is, and decide nothing.
    """
    with path.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        for line in lines:
            if line.endswith("\n"):
                with suppress(ValueError, TypeError, OverflowError, OSError):
                    yield _checked(Event(**json.loads(line)))


def _checked(event: Event) -> Event:
    texts = [event.kind, event.rule, event.log or "", *event.records]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(event)
    when = float(event.time)
    datetime.fromtimestamp(when)  # or it could not be shown
    return event._replace(time=when)


def event_files(run: Path) -> list[Path]:
    """Return the event files of a run, oldest first."""
    return sorted((run / FOLDER).glob("*.jsonl"))
