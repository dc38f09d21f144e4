"""Processes that a test started and that outlive it.

A mark in the environment finds them wherever they went: a process group, a session or a job of
Slurm inherits it.
"""

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

MARK = "PARALOOM_TEST"
# Until what was killed is gone, also where many jobs share the processors.
_PATIENCE_SECONDS = 60


def marked(value: str) -> list[psutil.Process]:
    """Return the live processes with that mark, this one apart."""
    found = []
    entry = f"{MARK}={value}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, psutil.Error):
            if entry in (folder / "environ").read_bytes().split(b"\0"):
                process = psutil.Process(int(folder.name))
                if process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
    return found


@contextmanager
def none_left(patience: float = _PATIENCE_SECONDS) -> Iterator[None]:
    """Check that no process is alive at the end that was started in the block.

    Args:
        patience: seconds that they get to end.

    Raises:
        AssertionError: some are; they are killed, and the message says what they were.
    """
    before, value = os.environ.get(MARK), uuid.uuid4().hex
    os.environ[MARK] = value
    try:
        yield
    finally:
        os.environ.pop(MARK)
        if before is not None:
            os.environ[MARK] = before
        deadline = time.monotonic() + patience
        while (left := marked(value)) and time.monotonic() < deadline:
            time.sleep(0.2)
        found = []
        for process in left:
            with suppress(psutil.Error):
                command = " ".join(process.cmdline())[:300]
                found.append(f"{process.pid} (child of {process.ppid()}): {command}")
                process.kill()
        psutil.wait_procs(left, timeout=_PATIENCE_SECONDS)
    assert not found, "still alive at the end of the test:\n" + "\n".join(found)
