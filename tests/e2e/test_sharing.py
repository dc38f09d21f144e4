"""Working directories that share one results folder: in turns, never at the same time."""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e import micro
from tests.e2e.pipeline import Pipeline

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

PATIENCE_SECONDS = 300


def stop_with_lock(snakemake: subprocess.Popen, results: Path) -> None:
    """Wait until a Snakemake holds the lock, and keep it from ending."""
    lock, deadline = results / ".lock", time.monotonic() + PATIENCE_SECONDS
    while not (lock.exists() and lock.stat().st_size):
        assert snakemake.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(snakemake.pid, signal.SIGSTOP)


def test_second_working_directory_is_refused_until_the_first_has_ended_or_was_killed(
    bitext, tmp_path
):
    results = tmp_path / "results"
    config = micro.config(bitext) | {"results": str(results)}
    first, second = (Pipeline(tmp_path / name, config) for name in ("first", "second"))
    with first.started("corpus") as snakemake:
        stop_with_lock(snakemake, results)
        refused = second.fail("corpus")
        for part in (
            f"{results}: in use by a run on host {socket.gethostname()}",
            f"process {snakemake.pid} of user",
            f"working directory {first.folder}, since 20",
        ):
            assert part in refused
        assert not list(second.folder.glob(".snakemake/locks/*"))
        second.planned("corpus")  # a dry run needs no lock
        os.killpg(snakemake.pid, signal.SIGKILL)
        snakemake.wait()
    assert (results / ".lock").stat().st_size
    second.run("corpus")
    assert not (results / ".lock").stat().st_size
    for each in (first, second):
        assert "Nothing to be done" in each.run("corpus", "--dry-run")


def test_file_that_is_asked_for_is_locked_as_well(bitext, tmp_path):
    """No target rule, whose input function takes the lock, has a part in it."""
    results = tmp_path / "results"
    config = micro.config(bitext) | {"results": str(results)}
    first, second = (Pipeline(tmp_path / name, config) for name in ("first", "second"))
    first.run("corpus")
    (folder,) = results.glob("corpus/dev/v*")
    record = folder / "0000.json"
    shutil.rmtree(folder)
    with first.started("corpus") as snakemake:
        stop_with_lock(snakemake, results)
        refused = second.fail(str(record))
        assert f"{results}: in use by a run on host" in refused
        os.kill(snakemake.pid, signal.SIGCONT)
        assert snakemake.wait() == 0
    assert record.exists()
