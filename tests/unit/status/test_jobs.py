import os

import pytest

from workflow_scripts.commands.status.run_jobs import (
    INTERRUPTED,
    failure,
    failure_lines,
    jobs_of_run,
    last_progress,
    latest_jobs,
)
from workflow_scripts.core.progress import Progress
from workflow_scripts.plan.run.events import FAILED, FINISHED, STARTED, Event, EventHandler

PROGRESS = "generate: 1,200 of 3,000 rows (40%), 35.1/s, 0:00:51 left"


def event(kind, record="a.json", at=1.0):
    return Event(at, kind, "rule", [record], "a.log")


def living(*kinds, record="a.json"):
    """The events of a Snakemake that runs."""
    return [event(kind, record) for kind in kinds], True


def dead(*kinds):
    return [event(kind) for kind in kinds], False


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ([living(STARTED)], {"a.json": "running"}),
        ([dead(STARTED)], {"a.json": INTERRUPTED}),
        ([living(STARTED, FINISHED)], {}),
        ([living(STARTED, FAILED)], {"a.json": "failed"}),
        # A retry, in the same Snakemake and in the next one.
        ([living(STARTED, FAILED, STARTED)], {"a.json": "running"}),
        ([dead(STARTED, FAILED), living(STARTED)], {"a.json": "running"}),
        # A failure stands until its job is begun again.
        ([dead(FAILED), living(STARTED, record="b")], {"a.json": "failed", "b": "running"}),
        # Only the Snakemake that lives runs anything.
        ([dead(STARTED), living(STARTED, record="b")], {"a.json": INTERRUPTED, "b": "running"}),
    ],
)
def test_state_is_that_of_the_latest_event(files, expected):
    assert {record: job.state for record, job in latest_jobs(files).items()} == expected


@pytest.fixture
def log(tmp_path):
    def write(text):
        path = tmp_path / "a.log"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_last_progress_line_counts(log):
    assert last_progress(log(f"x: 1 of 3,000 rows (0%), 1.0/s, 1:00 left\n{PROGRESS}\nnote\n")) == (
        Progress(1200, 3000, "rows", 35.1)
    )
    assert last_progress(log("nothing yet\n")) is None


def test_only_the_end_of_a_long_log_is_read(log):
    path = log(f"{PROGRESS}\n" + "x" * 1_000_000 + "\n")
    assert last_progress(path) is None


def test_log_that_is_not_there_says_nothing(tmp_path):
    assert last_progress(tmp_path / "none.log") is None
    assert "without a message" in failure(tmp_path / "none.log")


CRASH = "Traceback (most recent call last):\n  File x\n"
SILENT = "it ended without a message: killed, or out of memory"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{PROGRESS}\nerror: a.cs is not there\nfetch it\n", "a.cs is not there\nfetch it"),
        ("error: old\nerror: new\n", "new"),
        (f"{CRASH}ValueError: no\n", "ValueError: no"),
        (
            f"{CRASH}ModuleNotFoundError: No module 'x'",
            "ModuleNotFoundError: No module 'x'; `paraloom setup` installs it, "
            "`make setup` in a clone",
        ),
        (
            f"error: old\n{CRASH}RuntimeError: CUDA error\n"
            "Compile with TORCH_USE_CUDA_DSA\n  warnings.warn(\n",
            "RuntimeError: CUDA error",
        ),
        ("python: No module x\n", f"{SILENT}. Its last line: python: No module x"),
        (f"{PROGRESS}\n", SILENT),
        ("", SILENT),
    ],
)
def test_message_of_a_failure(log, text, expected):
    assert failure(log(text)) == expected


def test_the_end_of_a_run_says_which_jobs_failed_and_why(log):
    path = str(log("note\nerror: a.cs is not there\n"))
    jobs = [
        ("score_shard", {"system": "x", "version": "v1-0", "shard": "0001"}, path),
        ("manifest", {}, "none.log"),
    ]
    assert failure_lines(jobs) == [
        "1 job failed:",
        "error: score_shard x 0001: a.cs is not there",
        f"  log: {path}",
    ]
    assert failure_lines(jobs[1:])[:2] == [
        "1 job failed:",
        "error: manifest: it ended without a message: killed, or out of memory",
    ]
    assert failure_lines([]) == []
    # Of another workflow, of which this one is a module.
    assert failure_lines([("mine", {}, None)])[1:] == ["error: mine: it has no log; see above"]
    assert "without a message" in failure_lines([("mine", {}, "/")])[1]
    many = failure_lines([("a", {"shard": f"{number:04d}"}, path) for number in range(12)])
    assert (many[0], many[-1], len(many)) == ("12 jobs failed:", "and 2 more", 22)


def test_a_job_that_outlived_its_snakemake_is_running(tmp_path, monkeypatch):
    run = tmp_path / "runs" / "x"
    handler = EventHandler(run / "events")
    handler._write(event(STARTED)._replace(log="a.log"))
    handler._stream.close()
    (tmp_path / "a.log").write_text("", encoding="utf-8")
    jobs, alive = jobs_of_run(run)
    assert (jobs["a.json"].state, alive) == ("running", False)
    os.utime(tmp_path / "a.log", (0, 0))
    jobs, _ = jobs_of_run(run)
    assert jobs["a.json"].state == INTERRUPTED
