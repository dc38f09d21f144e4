import logging
import random
import re
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from workflow_scripts.plan.run.events import (
    FAILED,
    FINISHED,
    STARTED,
    EventHandler,
    event_files,
    is_written,
    read_events,
)

HOLD = """
import sys
from pathlib import Path
from types import SimpleNamespace
from workflow_scripts.plan.run.events import EventHandler
handler = EventHandler(Path(sys.argv[1]) / "events")
handler.emit(
    SimpleNamespace(event="job_info", jobid=1, rule_name="r", output=["a.json"], log=["a.log"])
)
print("written", flush=True)
sys.stdin.read()
"""


def info(job, *output):
    """A message of Snakemake that a job begins."""
    message = {"event": "job_info", "jobid": job, "rule_name": f"rule{job}", "output": output}
    return SimpleNamespace(**message, log=[f"{job}.log"])


def kinds(run):
    (path,) = event_files(run)
    return [(event.rule, event.kind, event.records) for event in read_events(path)]


@pytest.fixture
def handler(tmp_path):
    return EventHandler(tmp_path / "events")


def test_events_of_a_job_carry_its_records_and_log(tmp_path, handler):
    handler.emit(info(1, "x/0000.parquet", "x/0000.json"))
    handler.emit(SimpleNamespace(event="job_finished", job_id=1))
    record = ["x/0000.json"]
    assert kinds(tmp_path) == [("rule1", STARTED, record), ("rule1", FINISHED, record)]
    (path,) = event_files(tmp_path)
    assert {event.log for event in read_events(path)} == {"1.log"}


def test_failures_of_single_jobs_and_of_groups(tmp_path, handler):
    for job in (1, 2, 3):
        handler.emit(info(job, f"{job}.json"))
    handler.emit(SimpleNamespace(event="job_error", jobid=1))
    members = [{"jobid": 2}, {"jobid": 3}]
    handler.emit(SimpleNamespace(event="group_error", job_error_info=members))
    failed = [rule for rule, kind, _ in kinds(tmp_path) if kind == FAILED]
    assert failed == ["rule1", "rule2", "rule3"]


def test_messages_that_are_no_events_leave_no_file(tmp_path, handler):
    handler.emit(logging.makeLogRecord({"msg": "Building DAG of jobs..."}))
    handler.emit(SimpleNamespace(event="progress", done=1, total=2))
    handler.emit(SimpleNamespace(event="job_finished", job_id=7))
    assert event_files(tmp_path) == []


def test_a_full_disk_stops_no_run(tmp_path, monkeypatch, capsys):
    (tmp_path / "events").write_text("no folder can be made here", encoding="utf-8")
    monkeypatch.setattr(logging, "raiseExceptions", False)
    EventHandler(tmp_path / "events").emit(info(1, "a.json"))
    assert capsys.readouterr().err == ""


def test_writer_lives_until_it_is_killed(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout.readline() == b"written\n"
        (path,) = event_files(tmp_path)
        assert is_written(path)
        writer.send_signal(signal.SIGKILL)
    assert not is_written(path)
    assert [event.kind for event in read_events(path)] == [STARTED]


@pytest.mark.usefixtures("nfs")
def test_writer_is_seen_on_nfs(tmp_path):
    writer = EventHandler(tmp_path / "events")
    writer.emit(info(1, "a.json"))
    (path,) = event_files(tmp_path)
    assert is_written(path)
    del writer
    assert not is_written(path)
    assert [event.kind for event in read_events(path)] == [STARTED]


def test_line_cut_off_is_left_out(tmp_path, handler):
    handler.emit(info(1, "a.json"))
    handler.emit(SimpleNamespace(event="job_finished", job_id=1))
    (path,) = event_files(tmp_path)
    path.write_bytes(path.read_bytes()[:-5])
    assert [event.kind for event in read_events(path)] == [STARTED]


def test_lines_that_are_damaged_are_left_out(tmp_path, handler):
    handler.emit(info(1, "a.json"))
    (path,) = event_files(tmp_path)
    whole = path.read_bytes()
    good = list(read_events(path))
    rubbish = [
        random.Random(0).randbytes(1000),
        b"\r[]\n7\nnull\n{}\n",
        whole.replace(b'"a.json"', b"{}"),
        whole.replace(b'["a.json"]', b"8"),
        whole.replace(b'"time": ', b'"time": "x", "y": '),
        *(whole.replace(b'"time": ', b'"time": %s' % digits) for digits in (b"9" * 9, b"9" * 400)),
        re.sub(rb'"time": [^,]+', b'"time": NaN', whole),
    ]
    path.write_bytes(b"\n".join([*rubbish, b"", whole]))
    assert list(read_events(path)) == good
