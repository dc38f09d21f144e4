"""The queue of a search: requests that it has read and whose results it has not yet given out."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

# New work waits until this share of the room is free. Then many sentences are encoded at once, and
# their constraints are packed at once.
REFILL_SHARE = 0.125


class Job(Protocol):
    """A request that is being worked on."""

    @property
    def request(self) -> Any:
        """The request."""

    @property
    def result(self) -> Any:
        """Its result; None until it is known."""


AnyJob = TypeVar("AnyJob", bound=Job)


class Start(NamedTuple):
    """One of the equal parts of a job that are started: the numbers of the job and of the part."""

    job: int
    part: int


class Jobs(Generic[AnyJob]):
    """Opens jobs when there is room for them, and gives out their results in order.

    Args:
        requests: read when there is room.
        opened: makes the job of a request; the job has a result if there is nothing to do.
        room: how many parts may be worked on at once.
        parts: how many parts a job has.
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
        """Return the parts to start while `busy` are worked on; none if little room is free."""
        free = self._room - busy
        if free < max(1, REFILL_SHARE * self._room):
            return []
        return list(islice(self._waiting, free))

    def results(self) -> Iterator[Any]:
        """Yield and forget the results of jobs, up to the first job without a result."""
        for number, job in list(self._jobs.items()):
            result = job.result
            if result is None:
                return
            del self._jobs[number]
            yield result

    def pending(self) -> list[Any]:
        """Return the requests whose results have not been given out."""
        return [job.request for job in self._jobs.values()]

    def _starts(
        self, requests: Iterable[Any], opened: Callable[[Any], AnyJob], parts: int
    ) -> Iterator[Start]:
        for number, request in enumerate(requests):
            job = self._jobs[number] = opened(request)
            if job.result is None:
                yield from (Start(number, part) for part in range(parts))
