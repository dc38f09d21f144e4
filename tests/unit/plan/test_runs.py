import os
import subprocess
import sys
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.plan.run.run_folders import (
    cancel_orphans,
    cancel_orphans_in,
    forget_finished_jobs,
    remove_stale_locks,
)

ROOT = Path(__file__).parents[3]
HOLD = """
import sys
from pathlib import Path
from workflow_scripts.plan.run.run_folders import cancel_orphans, remove_stale_locks
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
    assert lock.parent.is_dir()


@pytest.fixture
def marks(tmp_path, monkeypatch):
    """Make outputs and Snakemake's marks of them, as it names them; return the folder of marks."""
    monkeypatch.chdir(tmp_path)

    def make(*outputs):
        for path in outputs:
            encoded = urlsafe_b64encode(path.encode()).decode()
            # A file's name has 255 bytes at most; the rest stands in folders above.
            mark = tmp_path / "incomplete" / f"@{encoded[:20]}" / encoded[20:]
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.write_text('{"external_jobid": null}', encoding="utf-8")
        return tmp_path / "incomplete"

    return make


def job(folder, shard, *names):
    """Do a job: write its outputs, then its record; return them as Snakemake names them."""
    files = [Path(folder, name) for name in (f"{shard}.parquet", *names)]
    files[0].parent.mkdir(parents=True, exist_ok=True)
    for path in files:
        path.write_text("data", encoding="utf-8")
    write_record(files[0], 1, 1, {}, files=files)
    return [*map(str, files), f"{folder}/{shard}.json"]


def left_marks(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("marked", [slice(3), slice(0, 1), slice(1, 2), slice(2, 3)])
def test_jobs_that_ended_after_a_killed_snakemake_are_not_done_again(marks, marked):
    """A mark may have come back alone."""
    done = job("results/generate/parabank2/v2-0123456789ab", "0000", "more.tsv")[marked]
    folder = marks(*done)
    assert sorted(forget_finished_jobs(folder)) == sorted(done)
    assert not left_marks(folder)


@pytest.mark.parametrize("gone", [0, 1, 2, None])
def test_jobs_that_a_kill_ended_are_done_again(marks, gone):
    done = job("results/score/parabank2/v1-0123456789ab", "0001", "more.tsv")
    folder, record = marks(*done), Path(done[-1])
    if gone is None:  # a damaged record says nothing
        record.write_text(record.read_text("utf-8").replace('"rows_in": 1', '"rows_in": 2'))
    else:
        Path(done[gone]).unlink()
    assert forget_finished_jobs(folder) == []
    assert len(left_marks(folder)) == 3


def test_marks_of_a_snakemake_that_lives_stay(marks, tmp_path):
    done = job("results/score/parabank2/v1-0123456789ab", "0001")
    folder = marks(*done)
    with remove_stale_locks(tmp_path):
        pass
    assert not left_marks(folder)
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as other:
        assert other.stdout.readline() == b"alive\n"
        marks(*done)
        with remove_stale_locks(tmp_path):
            assert len(left_marks(folder)) == 2
        other.kill()


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


@pytest.mark.usefixtures("nfs")
def test_on_nfs_too_the_living_and_the_dead_are_told_apart(slurm, tmp_path):
    there = tmp_path / "other" / ".snakemake"
    there.parent.mkdir()
    first, second = remove_stale_locks(there), remove_stale_locks(there)
    first.close()
    lock = there / "locks" / "0.output.lock"
    lock.parent.mkdir()
    lock.touch()
    remove_stale_locks(there).close()
    assert lock.exists()
    assert cancel_orphans_in([str(tmp_path / "other")]) == []
    second.close()
    assert cancel_orphans_in([str(tmp_path / "other")]) == ["3"]


def test_without_slurm_there_is_nothing_to_cancel(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with remove_stale_locks(tmp_path) as alive:
        assert cancel_orphans(alive) == []
