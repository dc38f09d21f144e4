import os
import subprocess
import sys

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.runs import cancel_orphans, cancel_orphans_in, remove_stale_locks

HOLD = """
import sys
from pathlib import Path
from workflow_scripts.core.runs import cancel_orphans, remove_stale_locks
alive = remove_stale_locks(Path(sys.argv[1]))
print("alive", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def lock(tmp_path):
    """A lock as Snakemake leaves it."""
    lock = tmp_path / "locks" / "0.output.lock"
    lock.parent.mkdir()
    lock.touch()
    return lock


def test_locks_of_the_dead_go(tmp_path, lock):
    remove_stale_locks(tmp_path).close()
    assert not lock.exists()
    assert lock.parent.is_dir()


def test_locks_stay_while_another_process_lives_and_go_when_it_was_killed(tmp_path, lock):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"alive\n"
        lock.touch()
        with remove_stale_locks(tmp_path):
            assert lock.exists()
        other.kill()
    remove_stale_locks(tmp_path).close()
    assert not lock.exists()


RUN = "5f0c3f7e-7c1b-4d38-9a4e-2f6d3b1c9e55"


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """A working directory, and a Slurm that knows the jobs in the file `jobs` until cancelled."""
    jobs, tools, work = tmp_path / "jobs", tmp_path / "tools", tmp_path / "work"
    work.mkdir()
    tools.mkdir()
    rows = [
        f"1|{RUN}|{work}",
        f"2|prefix_{RUN}|{work}",
        f"3|{RUN}|{tmp_path}/other",
        f"4|my_own_job|{work}",
    ]
    jobs.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    for name, script in {
        "squeue": f"cat {jobs}",
        "scancel": f'for job in "$@"; do sed -i "/^$job|/d" {jobs}; done',
    }.items():
        (tools / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(work)
    return jobs


def left(jobs):
    return [row.split("|")[0] for row in jobs.read_text(encoding="utf-8").splitlines()]


def test_working_directory_that_may_only_be_read_is_an_error_that_says_what_to_do(
    tmp_path, monkeypatch
):
    """Snakemake itself would end in a traceback, in a dry run as well."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InputError, match=rf"{tmp_path}/.snakemake: user .* of your own, .*status"):
        remove_stale_locks()


def test_lock_file_of_another_user_is_held_as_well(tmp_path, lock, monkeypatch):
    remove_stale_locks(tmp_path).close()
    monkeypatch.setattr(os, "access", lambda path, mode: path == tmp_path)
    with remove_stale_locks(tmp_path) as alive:
        assert alive.mode == "rb"


def test_jobs_of_a_killed_snakemake_are_cancelled_and_no_others(slurm, capsys):
    with remove_stale_locks() as alive:
        assert cancel_orphans(alive) == ["1", "2"]
    assert left(slurm) == ["3", "4"]
    assert "cancelling Slurm jobs of a killed run: 1, 2" in capsys.readouterr().err


def test_jobs_that_one_left_in_another_working_directory_are_cancelled(slurm, tmp_path):
    assert cancel_orphans_in([]) == []
    assert cancel_orphans_in([str(tmp_path / "other")]) == ["3"]
    assert left(slurm) == ["1", "2", "4"]


def test_jobs_of_one_that_lives_in_another_working_directory_are_left_alone(slurm, tmp_path):
    there = tmp_path / "other" / ".snakemake"
    there.parent.mkdir()
    with remove_stale_locks(there):
        assert cancel_orphans_in([str(tmp_path / "other")]) == []
    assert cancel_orphans_in([str(tmp_path / "other")]) == ["3"]


def test_jobs_are_left_alone_while_another_snakemake_lives_here(slurm):
    with remove_stale_locks(), remove_stale_locks() as alive:
        assert cancel_orphans(alive) == []
    assert left(slurm) == ["1", "2", "3", "4"]


def test_whoever_looked_for_orphans_is_still_known_to_be_alive(slurm):
    with remove_stale_locks() as first:
        cancel_orphans(first)
        lock = slurm.parent / "work" / ".snakemake" / "locks" / "0.output.lock"
        lock.parent.mkdir()
        lock.touch()
        remove_stale_locks().close()
        assert lock.exists()


def test_without_slurm_there_is_nothing_to_cancel(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with remove_stale_locks(tmp_path) as alive:
        assert cancel_orphans(alive) == []
