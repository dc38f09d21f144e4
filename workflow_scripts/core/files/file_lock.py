"""One process at a time in a work folder."""

import fcntl
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

# The file in the work folder.
LOCK = "lock"
# Seconds between two looks at the lock of another process, and between two lines that say so.
_POLL = 0.5
_REPORT = 60.0


@contextmanager
def locked(work: Path) -> Iterator[IO[bytes]]:
    """Hold the work folder's lock; a child process that inherits the open file holds it too.

    While another process holds it, wait: on a cluster a training outlives the Snakemake that
    submitted it, and the next Snakemake's copy of the job then goes on from what it did.
    """
    work.mkdir(parents=True, exist_ok=True)
    with (work / LOCK).open("wb") as lock:
        reported = -_REPORT
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() - reported >= _REPORT:
                    reported = time.monotonic()
                    print(f"waiting for the process that is training in {work}", file=sys.stderr)
                    sys.stderr.flush()
                time.sleep(_POLL)
        yield lock
