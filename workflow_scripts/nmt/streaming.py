"""The loop that sampling and beam search share."""

import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, Protocol, TypeVar

import torch

from workflow_scripts.nmt.jobs import Jobs

# Tokens put out at a stretch on an accelerator. More leave it waiting less often, and let more
# rows that have ended be computed in vain.
STRIDE = 8

Request = TypeVar("Request")
Result = TypeVar("Result")


class Search(Protocol):
    """A search over many requests at once, which are read as there is room."""

    jobs: Jobs[Any]

    def refill(self) -> bool:
        """Start new requests if there is room; tells whether any are at work."""

    def step(self) -> None:
        """Let everything at work go on by one token."""


def default_stride(device: torch.device) -> int:
    """Return how many steps to make between two looks at what has ended; 1 on a CPU."""
    return 1 if device.type == "cpu" else STRIDE


def run_search(
    start: Callable[[Iterable[Request], int], Search],
    requests: Iterable[Request],
    rows: int,
    fewest_rows: int,
) -> Iterator[Result]:
    """Yield the results of `requests` in their order.

    When the device is out of memory, what is at work begins again with half the rows: results
    do not depend on the rows.

    Args:
        start: makes a search of requests and rows.
        requests: read once.
        rows: hypotheses at a time.
        fewest_rows: with fewer, memory that runs out is an error.
    """
    requests = iter(requests)
    while True:
        search = None
        try:
            search = start(requests, rows)
            while search.refill():
                search.step()
                yield from search.jobs.results()
            yield from search.jobs.results()
            return
        except torch.OutOfMemoryError:
            if rows <= fewest_rows:
                raise
        rows = max(fewest_rows, rows // 2)
        print(f"out of device memory: going on with {rows} rows at a time", file=sys.stderr)
        requests = chain(search.jobs.pending() if search else [], requests)
        # The memory of the old search must be free before the new one asks for its own. It refers
        # to itself, through the generator of what waits: that is for the collector.
        del search
        gc.collect()
