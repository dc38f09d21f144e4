"""The thread that searches: batches, turns, cancelled requests, the end."""

import threading
from concurrent.futures import wait
from types import SimpleNamespace

import pytest

from workflow_scripts.apps.rewriter import worker as worker_module
from workflow_scripts.apps.rewriter.worker import ClosedError, FullError, Worker
from workflow_scripts.stages.rewrite.requests import Answer, Request, RequestError


class Slow:
    """Stands for a rewriter: it notes its batches, and waits until it may go on."""

    def __init__(self):
        self.batches, self.may, self.busy = [], threading.Event(), threading.Event()

    def plan(self, request):
        if request.text == "refuse":
            raise RequestError("refused")
        if request.text == "broken plan":
            raise ValueError
        return SimpleNamespace(request=request, cost=request.number)

    def answers(self, plans):
        self.batches.append([plan.request.text for plan in plans])
        self.busy.set()
        assert self.may.wait(20)
        if "broken" in self.batches[-1]:
            raise ValueError("broken")
        return [Answer(plan.request, []) for plan in plans]


@pytest.fixture
def slow():
    return Slow()


@pytest.fixture
def worker(slow):
    started = Worker(slow, most=8)
    started.start()
    yield started
    slow.may.set()
    started.close()


def at_work(worker, slow):
    """Let the worker begin with a request; what comes now has to wait."""
    first = worker.submit(Request("first"), "first")
    assert slow.busy.wait(20)
    return first


def test_those_who_wait_share_a_batch_in_turns(worker, slow):
    first = at_work(worker, slow)
    waiting = [worker.submit(Request(f"file {n}"), "file") for n in range(3)]
    waiting += [worker.submit(Request(f"person {n}"), f"person {n}") for n in range(2)]
    slow.may.set()
    wait([first, *waiting], 20)
    assert slow.batches == [["first"], ["file 0", "person 0", "person 1", "file 1", "file 2"]]
    assert [future.result().request.text for future in waiting[:2]] == ["file 0", "file 1"]


def test_a_batch_is_bounded_by_its_searches(worker, slow, monkeypatch):
    monkeypatch.setattr(worker_module, "MOST_SEARCHES", 5)
    first = at_work(worker, slow)
    waiting = [worker.submit(Request(str(n), number=3), str(n)) for n in range(3)]
    slow.may.set()
    wait([first, *waiting], 20)
    assert slow.batches[1:] == [["0", "1"], ["2"]]


def test_what_was_cancelled_is_not_searched(worker, slow):
    first = at_work(worker, slow)
    waiting = [worker.submit(Request(str(n)), str(n)) for n in range(3)]
    assert waiting[1].cancel()
    slow.may.set()
    wait([first, waiting[0], waiting[2]], 20)
    assert slow.batches[1:] == [["0", "2"]]


def test_no_more_wait_than_may(worker, slow):
    at_work(worker, slow)
    waiting = [worker.submit(Request(str(n)), "file") for n in range(8)]
    with pytest.raises(FullError):
        worker.submit(Request("more"), "other")
    waiting[3].cancel()  # makes room
    worker.submit(Request("more"), "other")
    with pytest.raises(FullError):
        worker.submit(Request("more"), "other")


def test_a_fault_is_told_to_those_it_concerns_alone(worker, slow, capsys):
    first = at_work(worker, slow)
    refused = worker.submit(Request("refuse"), "a")
    unplanned = worker.submit(Request("broken plan"), "b")
    fine = worker.submit(Request("fine"), "c")
    slow.may.set()
    assert fine.result(20).request.text == "fine"
    assert first.result(20)
    with pytest.raises(RequestError, match="refused"):
        refused.result(20)
    with pytest.raises(ValueError):
        unplanned.result(20)
    broken = worker.submit(Request("broken"), "d")
    with pytest.raises(ValueError, match="broken"):
        broken.result(20)
    assert worker.submit(Request("after"), "e").result(20)  # the thread lives


def test_a_search_that_fails_harms_no_other_of_its_batch(worker, slow, capsys):
    at_work(worker, slow)
    broken, fine = (worker.submit(Request(text), text) for text in ("broken", "fine"))
    slow.may.set()
    assert fine.result(20).request.text == "fine"
    with pytest.raises(ValueError, match="broken"):
        broken.result(20)
    assert slow.batches == [["first"], ["broken", "fine"], ["broken"], ["fine"]]


def test_several_threads_search_at_once_and_end(slow):
    worker = Worker(slow, most=8, threads=2)
    worker.start()
    first = at_work(worker, slow)
    slow.busy.clear()
    second = worker.submit(Request("second"), "b")
    assert slow.busy.wait(20)
    assert slow.batches == [["first"], ["second"]] and not first.done()
    slow.may.set()
    assert wait([first, second], 20).not_done == set()
    worker.close()


def test_the_end_lets_the_batch_at_work_end(slow):
    worker = Worker(slow, most=8)
    worker.start()
    first = at_work(worker, slow)
    waiting = worker.submit(Request("second"), "b")
    ending = threading.Thread(target=worker.close)
    ending.start()
    while not waiting.cancelled():
        pass
    slow.may.set()
    ending.join(20)
    assert first.result(1)
    with pytest.raises(ClosedError):
        worker.submit(Request("third"), "c")
