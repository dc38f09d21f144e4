"""The loop that sampling and beam search share."""

import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, Protocol, TypeVar

import torch

from workflow_scripts.nmt.request_queue import Jobs

# Steps that an accelerator makes before the host looks at the results. With more of them it waits
# less often, but computes more rows that have already ended.
STRIDE = 8

Request = TypeVar("Request")
Result = TypeVar("Result")


class Search(Protocol):
    """A search for many requests at once; it reads them when there is room."""

    jobs: Jobs[Any]

    def refill(self) -> bool:
        """Start new requests if there is room; return whether there is any work."""

    def step(self) -> None:
        """Add one token to every open hypothesis."""


def default_stride(device: torch.device) -> int:
    """Return how many steps a search makes before it looks for ended hypotheses; 1 on a CPU."""
    return 1 if device.type == "cpu" else STRIDE


def run_search(
    start: Callable[[Iterable[Request], int], Search],
    requests: Iterable[Request],
    rows: int,
    fewest_rows: int,
) -> Iterator[Result]:
    """Yield the results of `requests` in their order.

    When the device is out of memory, unfinished requests start again with half the rows. Results do
    not depend on the number of rows.

    Args:
        start: makes a search from requests and a number of rows.
        requests: read once.
        rows: hypotheses at a time.
        fewest_rows: if memory runs out with this number of rows, it is an error.
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
        # The memory of the old search must be free before the new one asks for its own. The old
        # search refers to itself through a generator, so only the garbage collector can free it.
        del search
        gc.collect()
