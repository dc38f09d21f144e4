import dataclasses
import errno
import fcntl
import getpass
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.run import results_lock
from workflow_scripts.plan.run.results_lock import COLLECTION, Holder, ResultsLock

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.slow
# Arguments: results, purpose, how the file system locks, and another name of this machine.
HOLD = """
import errno, fcntl, signal, sys, time
from workflow_scripts.plan.run import results_lock as locks
from workflow_scripts.core.errors import InputError

results, purpose, system, machine = sys.argv[1:]
def refuse(*_):
    raise OSError(errno.ENOLCK, "No locks available")
if system != "flock":
    locks.fcntl.flock = refuse if system == "none" else lambda *_: None
if machine:
    locks._read = lambda path, read=locks._read: machine if "boot_id" in path else read(path)
locks._BEAT_SECONDS, locks._PATIENCE_SECONDS, locks._SETTLE_SECONDS = 0.2, 3.0, 1.0
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    lock = locks.ResultsLock(results, purpose)
    lock.enter()
    print("held", flush=True)
    sys.stdin.read()
except InputError as error:
    print("refused", error, flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    lock.leave()
"""
FLOCK, NO_LOCKS, LOCAL = "flock", "none", "local"


class Process:
    """A process that takes the lock in a working directory of its own."""

    def __init__(self, folder, results, purpose=results_lock.RUN, system=FLOCK, machine=""):
        folder.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(results), purpose, system, machine],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def answer(self):
        return self.process.stdout.readline().strip()

    def end(self):
        """Let it end by itself; return what it said since."""
        output, errors = self.process.communicate(timeout=60)
        return output + errors

    def kill(self):
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def start(tmp_path):
    processes = []

    def start(name, *arguments, **options):
        processes.append(Process(tmp_path / name, tmp_path / "results", *arguments, **options))
        return processes[-1]

    yield start
    for each in processes:
        each.kill()


def record(tmp_path):
    return json.loads((tmp_path / "results" / ".lock").read_text("utf-8"))


def test_another_working_directory_is_told_who_holds_it(start, tmp_path):
    first = start("a")
    assert first.answer() == "held"
    answer = start("b").answer()
    assert answer.startswith(f"refused {tmp_path}/results: in use by a run on host ")
    for part in (
        f"process {first.process.pid} of user {getpass.getuser()},",
        f"in working directory {tmp_path}/a, since 20",
        "wait until it has ended, or set another 'results'",
    ):
        assert part in answer
    first.end()
    assert (tmp_path / "results" / ".lock").read_bytes() == b""
    assert start("b").answer() == "held"


@pytest.mark.parametrize("system", [FLOCK, NO_LOCKS])
def test_killed_holder_leaves_nothing_that_must_be_removed(start, system):
    first = start("a", system=system)
    assert first.answer() == "held"
    assert start("b", system=system).answer().startswith("refused")
    first.process.send_signal(signal.SIGKILL)
    first.process.wait()
    assert start("b", system=system).answer() == "held"


@pytest.mark.parametrize("system", [FLOCK, NO_LOCKS])
def test_of_several_at_the_same_time_one_gets_it(start, system):
    answers = [each.answer() for each in [start(f"w{n}", system=system) for n in range(5)]]
    assert answers.count("held") == 1
    assert all(each == "held" or each.startswith("refused") for each in answers)


def test_snakemakes_of_one_working_directory_hold_it_together_up_to_the_last(start, tmp_path):
    first, second = start("a"), start("a")
    assert [first.answer(), second.answer()] == ["held", "held"]
    first.end()
    deadline = time.monotonic() + 60
    while record(tmp_path)["process"] != second.process.pid:  # who holds it is still right
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert f"process {second.process.pid} " in start("b").answer()
    second.end()
    assert start("b").answer() == "held"


def test_run_waits_for_a_collection_and_a_collection_refuses_beside_a_run(start):
    collection = start("a", COLLECTION)
    assert collection.answer() == "held"
    run = start("b")
    assert "waiting for the collection of garbage on host" in run.process.stderr.readline()
    assert start("a", COLLECTION).answer().startswith("refused")
    collection.end()
    assert run.answer() == "held"
    assert start("b", COLLECTION).answer().startswith("refused")


@pytest.mark.parametrize("system", [LOCAL, NO_LOCKS])
def test_holder_on_another_machine_whose_locks_are_not_seen_counts_while_it_lives(
    start, tmp_path, system
):
    first = start("a", system=system, machine="elsewhere")
    assert first.answer() == "held"
    other = start("b", system=system)
    assert "watching for up to 3 s" in other.process.stderr.readline()
    assert other.answer().startswith("refused")
    first.kill()
    other = start("b", system=system)
    assert other.answer() == "held"
    assert record(tmp_path)["process"] == other.process.pid


def test_holder_that_was_taken_for_dead_ends_when_it_sees_that(start, tmp_path):
    first = start("a", system=LOCAL, machine="elsewhere")
    assert first.answer() == "held"
    first.process.send_signal(signal.SIGSTOP)
    second = start("b", system=LOCAL)
    assert second.answer() == "held"
    first.process.send_signal(signal.SIGCONT)
    assert first.answer() == "interrupted"
    assert "was taken over by a run on host" in first.end()
    assert record(tmp_path)["process"] == second.process.pid


@pytest.fixture
def lock(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lock = ResultsLock("results")
    yield lock
    lock.leave()


def test_results_that_changed_while_a_run_was_planned_stop_it(lock):
    with ResultsLock("results"):
        pass
    with pytest.raises(InputError, match=r"results: another run worked there while .* again"):
        lock.enter(planned=True)


def test_results_that_nobody_used_meanwhile_do_not(lock):
    lock.enter(planned=True)
    lock.enter(planned=True)
    assert lock.path.stat().st_size


@pytest.mark.parametrize("content", [b"\xff\x00\x9a" * 100, b"[]", b'{"host": 1}', b"\n"])
def test_file_that_says_nothing_is_nobodys(lock, content):
    lock.path.parent.mkdir()
    lock.path.write_bytes(content)
    lock.enter()
    assert Holder.parse(lock.path.read_text("utf-8")).process == os.getpid()


def test_file_that_says_nothing_is_somebodys_if_it_is_locked(lock, monkeypatch):
    monkeypatch.setattr(results_lock, "_SETTLE_SECONDS", 0.2)
    lock.path.parent.mkdir()
    with lock.path.open("wb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="in use by another process, which has not said"):
            lock.enter()


def test_folder_that_may_not_be_written_is_named(lock, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(results_lock.os, "open", refuse)
    with pytest.raises(InputError, match=r"results/.lock: Read-only file system; who runs jobs"):
        lock.enter()


def test_file_can_be_written_by_whoever_may_write_the_folder(lock):
    lock.path.parent.mkdir()
    lock.path.parent.chmod(0o775)
    lock.enter()
    assert lock.path.stat().st_mode & 0o777 == 0o664


def test_user_without_a_name_has_a_number(lock, monkeypatch):
    def nobody():
        raise KeyError("getpwuid(): uid not found: 12345")

    monkeypatch.setattr(getpass, "getuser", nobody)
    lock.enter()
    assert Holder.parse(lock.path.read_text("utf-8")).user == f"uid-{os.getuid()}"


def test_process_with_the_number_of_a_dead_one_is_another(lock):
    here = Holder.this(results_lock.RUN)
    assert here.lives_here(here)
    assert not dataclasses.replace(here, started="1").lives_here(here)
    assert dataclasses.replace(here, space="pid:[1]").lives_here(here) is None


def test_folders_of_killed_holders_are_handed_on_until_their_jobs_are_cancelled(start, lock):
    for name in ("a", "b"):
        process = start(name)
        assert process.answer() == "held"
        process.kill()
    lock.enter()
    folders, here = [], lock.path.parent.resolve().parent
    lock.settle(folders.extend)
    assert folders == [str(here / "a"), str(here / "b")]
    lock.settle(folders.extend)
    assert len(folders) == 2
    assert Holder.parse(lock.path.read_text("utf-8")).abandoned == []


def test_copied_results_say_nothing_of_who_works_in_the_original(start, lock):
    """Else the jobs of a run that lives, on a machine that is not seen here, would be cancelled."""
    process = start("a")
    assert process.answer() == "held"
    copy = ResultsLock(shutil.copytree("results", "copy"))
    copy.enter()
    copy.settle(pytest.fail)
    assert Holder.parse(copy.path.read_text("utf-8")).abandoned == []
    copy.leave()
    with pytest.raises(InputError, match="in use by"):
        lock.enter()


def test_lock_file_is_the_same_for_machines_that_number_its_device_otherwise(lock):
    here = dataclasses.replace(Holder.this(results_lock.RUN), file=[1, 7])
    assert here.is_of(here)
    assert not dataclasses.replace(here, file=[2, 7]).is_of(here)
    assert dataclasses.replace(here, machine="other", file=[2, 7]).is_of(here)
    assert not dataclasses.replace(here, machine="other", file=[1, 8]).is_of(here)


def test_holder_that_gave_the_lock_back_left_nothing(start, lock):
    process = start("a")
    assert process.answer() == "held"
    process.end()
    lock.enter()
    lock.settle(pytest.fail)
