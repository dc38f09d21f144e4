"""Threads that search for all: requests that wait are joined into one search.

A batch takes one request of each client in turn, so that a long file does not stop the others.
"""

import sys
import threading
import traceback
from collections import OrderedDict, deque
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from workflow_scripts.apps.rewriter.engine import Engine
from workflow_scripts.stages.rewrite.requests import Answer, Request, RequestError

# Beams and samples that a batch holds, of however many requests; a request may have more by itself.
MOST_SEARCHES = 64


class FullError(Exception):
    """Too many requests wait; no more are taken."""


class ClosedError(Exception):
    """The service ends."""


@dataclass(frozen=True)
class _Waiting:
    request: Request
    result: "Future[Answer]"


class Worker:
    """Searches for requests as they come.

    Args:
        rewriter: paraphrases.
        most: requests that may wait.
        threads: that search, each for a batch of its own.
    """

    def __init__(self, rewriter: Engine, most: int, threads: int = 1):
        self.rewriter = rewriter
        self._most = most
        self._count = 0
        self._waiting: OrderedDict[str, deque[_Waiting]] = OrderedDict()
        self._changed = threading.Condition()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._work, name="search", daemon=True) for _ in range(threads)
        ]

    def start(self) -> None:
        """Begin to work."""
        for thread in self._threads:
            thread.start()

    def submit(self, request: Request, client: str) -> "Future[Answer]":
        """Return the answer to come; if it is cancelled before its turn, nothing is searched for.

        Args:
            request: of the client.
            client: whose turn it takes.

        Raises:
            FullError: too many wait.
            ClosedError: the service ends.
        """
        result: Future[Answer] = Future()
        with self._changed:
            if self._closed:
                raise ClosedError
            if self._count >= self._most:
                self._forget_cancelled()
            if self._count >= self._most:
                raise FullError
            self._waiting.setdefault(client, deque()).append(_Waiting(request, result))
            self._count += 1
            self._changed.notify()
        return result

    def close(self) -> None:
        """Let the batches at work end; requests that wait are cancelled."""
        with self._changed:
            self._closed = True
            for line in self._waiting.values():
                for waiting in line:
                    waiting.result.cancel()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _forget_cancelled(self) -> None:
        for client, line in list(self._waiting.items()):
            wanted = deque(waiting for waiting in line if not waiting.result.cancelled())
            self._count -= len(line) - len(wanted)
            if wanted:
                self._waiting[client] = wanted
            else:
                del self._waiting[client]

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
            self._search(*self._batch())

    def _search(self, planned: "list[Any]", results: "list[Future[Answer]]") -> None:
        """Answer requests together; if that fails, each by itself: one fault harms no other."""
        if not planned:
            return
        try:
            answers = self.rewriter.answers(planned)
        except Exception as error:
            if len(planned) > 1:
                for plan, result in zip(planned, results, strict=True):
                    self._search([plan], [result])
                return
            print("a search failed:", file=sys.stderr)
            traceback.print_exc()
            results[0].set_exception(error)
        else:
            for result, answer in zip(results, answers, strict=True):
                result.set_result(answer)

    def _batch(self) -> "tuple[list[Any], list[Future[Answer]]]":
        """Return the requests of the next batch, each planned, with their future results."""
        planned: list[Any] = []
        results = []
        cost = 0
        while cost < MOST_SEARCHES and (next_one := self._next()):
            if not next_one.result.set_running_or_notify_cancel():
                continue
            try:
                plan = self.rewriter.plan(next_one.request)
            except RequestError as error:
                next_one.result.set_exception(error)
                continue
            except Exception as error:
                traceback.print_exc()
                next_one.result.set_exception(error)
                continue
            planned.append(plan)
            results.append(next_one.result)
            cost += max(1, plan.cost)
        return planned, results

    def _next(self) -> _Waiting | None:
        """Return the next request: of the client whose turn it is, who then goes to the end."""
        with self._changed:
            if self._closed or not self._waiting:
                return None
            client, line = self._waiting.popitem(last=False)
            waiting = line.popleft()
            self._count -= 1
            if line:
                self._waiting[client] = line
            return waiting
