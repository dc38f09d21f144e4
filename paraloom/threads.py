"""Batches side by side, each by one thread of torch.

The products of these models are small: several threads of torch in one search gain little, and
where others use the machine they wait for each other, at ten times the cost. torch lets go of
Python's lock while it computes, so threads of Python with a batch each do as well as processes.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock, Semaphore
from typing import Any, TypeVar

import torch

from paraloom.requests import require_count

Item = TypeVar("Item")
Answer = TypeVar("Answer")
_setting = Lock()


class Threads:
    """Threads that answer batches; more batches than threads wait for their turn.

    Raises:
        ArgumentError: it is no whole number above zero.
    """

    def __init__(self, count: Any):
        self._count = require_count("threads", count)
        self._free = Semaphore(self._count)

    def answer(self, answer: Callable[[Item], Answer], batch: Item) -> Answer:
        """Return the answer to a batch, by one thread of torch."""
        with self._free, one_torch_thread():
            return answer(batch)

    def side_by_side(
        self, answer: Callable[[Item], Answer], batches: Iterable[Item]
    ) -> Iterator[Answer]:
        """Yield the answers to batches, in order.

        Of one thread the next batch is read when its answer is asked for; of several one more batch
        is read ahead than there are threads.
        """
        if self._count == 1:
            for batch in batches:
                yield self.answer(answer, batch)
            return
        with ThreadPoolExecutor(self._count) as pool:
            ahead: deque[Future[Answer]] = deque()
            try:
                for batch in batches:
                    ahead.append(pool.submit(self.answer, answer, batch))
                    if len(ahead) > self._count:
                        yield ahead.popleft().result()
                while ahead:
                    yield ahead.popleft().result()
            finally:  # nobody asks for the rest
                for future in ahead:
                    future.cancel()


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Let torch compute by one thread where it is called; afterwards by as many as before."""
    before = torch.get_num_threads()
    if before == 1:
        yield
        return
    _set_here(1)
    try:
        yield
    finally:
        _set_here(before)


def _set_here(count: int) -> None:
    """Set how many threads torch has in the thread that calls, and in no other one.

    torch also gives this number to threads that have not used it yet. Such a thread, which has the
    host's number, gives that back.
    """
    with _setting, ThreadPoolExecutor(1) as other:
        of_others = other.submit(torch.get_num_threads).result()
        torch.set_num_threads(count)
        other.submit(torch.set_num_threads, of_others).result()
