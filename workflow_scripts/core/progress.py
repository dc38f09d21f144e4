"""Progress of long steps as plain lines, readable in a log file as on a terminal."""

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

T = TypeVar("T")
INTERVAL_SECONDS = 10.0
# Lines of `progress`, of downloads (MB) and of the training (train.process), which counts updates.
_LINE = re.compile(
    r"[^:]+(?:: [^:]+)?: (?P<done>[\d,]+)(?: of (?P<total>[\d,]+))? (?P<unit>rows|updates|MB)"
    r"(?: \(\d+%\))?(?:, (?P<rate>[\d,.]+)/s|(?<=%\))$)"
)


class Progress(NamedTuple):
    """How far a job is: `done` of `total` units (rows, updates, MB) at `rate` units a second.

    The rate is 0 where it is not known yet.
    """

    done: int
    total: int | None
    unit: str
    rate: float


def parse_line(line: str) -> Progress | None:
    """Return what a progress line says; None for any other line."""
    match = _LINE.match(line)
    if not match:
        return None
    done, total, rate = (
        match[name] and match[name].replace(",", "") for name in ("done", "total", "rate")
    )
    return Progress(int(done), int(total) if total else None, match["unit"], float(rate or 0))


def duration(seconds: float) -> str:
    """Return e.g. `1:02:03`."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}"


def progress_line(
    desc: str, done: int, total: int | None, elapsed: float, unit: str = "rows", before: int = 0
) -> str:
    """Return e.g. `generate: 1,200 of 3,000 rows (40%), 35.1/s, 0:00:51 left`.

    `before` were done when `elapsed`, in seconds, began. With nothing more or no time since then,
    neither rate nor time left is told.
    """
    shown = f"{done:,} of {total:,} {unit} ({done / total:.0%})" if total else f"{done:,} {unit}"
    line = f"{desc}: {shown}"
    if done <= before or elapsed <= 0:
        return line
    rate = (done - before) / elapsed
    line += f", {rate:,.1f}/s" if rate >= 1 else f", {rate:.3f}/s"
    return f"{line}, {duration((total - done) / rate)} left" if total else line


def progress(
    iterable: Iterable[T],
    total: int | None = None,
    desc: str = "rows",
    size: Callable[[T], int] = lambda _: 1,
) -> Iterator[T]:
    """Pass `iterable` through and say on stderr, at most every ten seconds, how far it is.

    The first item takes the time in which models are loaded. So the rate is that of the others, and
    is told once these took ten seconds.

    Args:
        iterable: rows, or batches of them.
        total: how many rows there are, if known.
        desc: what is done.
        size: gives the rows of an item.
    """
    start = reported = time.monotonic()
    done, before, began = 0, None, start
    for item in iterable:
        yield item
        done += size(item)
        now = time.monotonic()
        if before is None:
            before, began = done, now
        if now - reported >= INTERVAL_SECONDS:
            elapsed = now - began if now - began >= INTERVAL_SECONDS else 0.0
            line = progress_line(desc, done, total, elapsed, before=before)
            print(line, file=sys.stderr, flush=True)
            reported = now
    elapsed = time.monotonic() - start
    print(f"{desc}: {done:,} rows done in {duration(elapsed)}", file=sys.stderr, flush=True)
