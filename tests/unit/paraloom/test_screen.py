"""`paraloom run --brief`: a line for each stage, and why a run failed."""

import sys
from collections import deque

import pytest

from paraloom.screen import show, watch

RUN = """note: nothing is trained
Job stats:
job              count
-------------  -------
clean_shard          1
generate_shard       2
all                  1
total                4

[Fri Nov 27 13:50:37 2026]
localrule clean_shard:
    jobid: 3
warning: few references
Finished jobid: 3 (Rule: clean_shard)
1 of 4 steps (25%) done
rule generate_shard:
generate: 120 of 300 rows (40%), 10.0/s, 0:00:18 left
Finished jobid: 2 (Rule: generate_shard)
Finished jobid: 1 (Rule: generate_shard)
Finished jobid: 0 (Rule: all)
"""
FAILED = """1 job failed:
error: clean_shard 0000: no line is left
  log: results/logs/clean.log
Complete log(s): .snakemake/log/a.log
"""


@pytest.fixture(autouse=True)
def signals(monkeypatch):
    monkeypatch.setattr("signal.signal", lambda *_: None)


def said(text, status=0):
    return watch([sys.executable, "-c", f"import sys; print({text!r}); sys.exit({status})"])


def test_a_stage_has_a_line_when_its_last_job_is_done(capfd):
    assert said(RUN) == 0
    lines = capfd.readouterr().err.splitlines()
    told = [line for line in lines if "after" in line or line.startswith(("note", "warning"))]
    assert [line.split(", after")[0].split() for line in told] == [
        ["note:", "nothing", "is", "trained"],
        ["warning:", "few", "references"],
        ["clean", "1", "job"],
        ["generate", "2", "jobs"],
    ]


def test_on_a_terminal_a_bar_says_how_far_it_is_and_how_long_to_go(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert show(RUN.splitlines(), deque())
    shown = capsys.readouterr().err
    assert "generate shard" in shown and "gone," in shown and "left" in shown


def test_a_run_that_fails_says_why_and_has_its_status(capfd):
    assert said(RUN + FAILED, 3) == 3
    assert capfd.readouterr().err.endswith(FAILED)


def test_what_ends_before_the_first_job_is_shown(capfd):
    failed = "note: one\nWorkflowError in file Snakefile:\nconfiguration: run.name is wrong"
    assert said(failed, 1) == 1
    shown = capfd.readouterr().err
    assert "run.name is wrong" in shown and shown.count("note: one") == 1
    assert said("Nothing to be done (all requested files are present and up to date).") == 0
    assert "Nothing to be done" in capfd.readouterr().err


def test_a_run_that_a_signal_ends_has_the_status_of_a_shell():
    assert watch([sys.executable, "-c", "import os; os.kill(os.getpid(), 15)"]) == 143
