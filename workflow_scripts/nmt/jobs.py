"""The requests of a search that are read and whose results are not out."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

# New work waits until this share of the room is free, so that sentences are encoded, and their
# constraints packed, for many of them at once.
REFILL_SHARE = 0.125


class Job(Protocol):
    """A request at work."""

    @property
    def request(self) -> Any:
        """The request."""

    @property
    def result(self) -> Any:
        """Its result, None while it is at work."""


AnyJob = TypeVar("AnyJob", bound=Job)


class Start(NamedTuple):
    """One of the equal parts in which a job begins: numbers of the job and of the part."""

    job: int
    part: int


class Jobs(Generic[AnyJob]):
    """Opens jobs as there is room for them, and gives out their results in order.

    Args:
        requests: read as there is room.
        opened: makes a job of a request; with a result where there is nothing to do.
        room: how many starts may be at work at once.
        parts: how many starts a job has.
    """

    def __init__(
        self,
        requests: Iterable[Any],
        opened: Callable[[Any], AnyJob],
        room: int,
        parts: int = 1,
    ):
        self._room = room
        # In order, by number.
        self._jobs: dict[int, AnyJob] = {}
        self._waiting = self._starts(requests, opened, parts)

    def __getitem__(self, number: int) -> AnyJob:
        return self._jobs[number]

    def take(self, busy: int) -> list[Start]:
        """Return what to start, given how much is at work; nothing where little room is free."""
        free = self._room - busy
        if free < max(1, REFILL_SHARE * self._room):
            return []
        return list(islice(self._waiting, free))

    def results(self) -> Iterator[Any]:
        """Yield, and forget, the results of jobs, up to the first that is at work."""
        for number, job in list(self._jobs.items()):
            result = job.result
            if result is None:
                return
            del self._jobs[number]
            yield result

    def pending(self) -> list[Any]:
        """Return the requests read whose results are not out."""
        return [job.request for job in self._jobs.values()]

    def _starts(
        self, requests: Iterable[Any], opened: Callable[[Any], AnyJob], parts: int
    ) -> Iterator[Start]:
        for number, request in enumerate(requests):
            job = self._jobs[number] = opened(request)
            if job.result is None:
                yield from (Start(number, part) for part in range(parts))
