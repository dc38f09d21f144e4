from collections.abc import Iterator
from dataclasses import dataclass

from workflow_scripts.nmt.request_queue import Jobs, Start


@dataclass
class Doubling:
    """A job whose result is there when someone has doubled its request."""

    request: int
    result: int | None = None


class Requests:
    """Numbers from 0 up; `read` counts how many were asked for."""

    def __init__(self, count: int):
        self._count = count
        self.read = 0

    def __iter__(self) -> Iterator[int]:
        for number in range(self._count):
            self.read += 1
            yield number


def test_results_come_in_order_of_the_requests():
    jobs = Jobs(range(4), Doubling, room=8)
    assert jobs.take(busy=0) == [Start(number, 0) for number in range(4)]
    jobs[1].result = 2
    assert list(jobs.results()) == []
    jobs[0].result = 0  # a result, though false
    assert list(jobs.results()) == [0, 2]
    assert jobs.pending() == [2, 3]
    jobs[3].result, jobs[2].result = 6, 4
    assert list(jobs.results()) == [4, 6]
    assert jobs.pending() == []


def test_requests_are_read_as_there_is_room():
    requests = Requests(100)
    jobs = Jobs(requests, Doubling, room=16, parts=3)
    starts = jobs.take(busy=0)
    assert starts == [Start(number // 3, number % 3) for number in range(16)]
    assert requests.read == 6
    # One row of sixteen is less than the share that is worth a start; two are enough.
    assert jobs.take(busy=15) == []
    assert jobs.take(busy=14) == [Start(5, 1), Start(5, 2)]
    assert requests.read == 6
    assert jobs.pending() == list(range(6))


def test_what_has_a_result_from_the_first_is_not_started():
    def opened(request: int) -> Doubling:
        return Doubling(request, 0 if request == 1 else None)

    jobs = Jobs(range(3), opened, room=4)
    assert [start.job for start in jobs.take(busy=0)] == [0, 2]
    jobs[0].result = 0
    assert list(jobs.results()) == [0, 0]
    assert jobs.pending() == [2]
