"""Batches of what has come: who answers does not wait for a full batch."""

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

# Lines that are answered together.
BATCH = 64
_END = object()

Line = TypeVar("Line")


def waiting(lines: Iterable[Line], most: int = BATCH) -> Iterator[list[Line]]:
    """Yield the lines in batches of what is there: a reader does not wait for lines to come.

    Args:
        lines: four times as many as a batch holds are read ahead.
        most: lines of a batch.

    Raises:
        Exception: whatever reading the lines raises, after the lines before.
    """
    ready: queue.Queue[Any] = queue.Queue(4 * most)

    def read() -> None:
        try:
            for line in lines:
                ready.put(line)
            ready.put(_END)
        except Exception as error:
            ready.put(error)

    threading.Thread(target=read, daemon=True).start()
    while True:
        batch = [ready.get()]
        while len(batch) < most and not ready.empty():
            batch.append(ready.get())
        whole: list[Line] = [
            item for item in batch if item is not _END and not isinstance(item, Exception)
        ]
        if whole:
            yield whole
        for item in batch:
            if isinstance(item, Exception):
                raise item
            if item is _END:
                return
