from types import SimpleNamespace

from workflow_scripts.nmt.request_queue import Jobs, Start


def test_requests_are_read_as_there_is_room():
    read = []

    def requests():
        for number in range(100):
            read.append(number)
            yield number

    def opened(request: int) -> SimpleNamespace:
        return SimpleNamespace(request=request, result=None)

    jobs = Jobs(requests(), opened, room=16, parts=3)
    starts = jobs.take(busy=0)
    assert starts == [Start(number // 3, number % 3) for number in range(16)]
    assert len(read) == 6
    # One row of sixteen is less than the share that is worth a start; two are enough.
    assert jobs.take(busy=15) == []
    assert jobs.take(busy=14) == [Start(5, 1), Start(5, 2)]
    assert len(read) == 6
    assert jobs.pending() == list(range(6))
