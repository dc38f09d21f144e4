"""A training that is killed goes on from its last checkpoint, and ends as if nothing had been.

`kill -9` leaves no chance to clean up. It hits the job alone (as the kernel does when memory is
short) or all processes (as a power cut does). Kills of other stages: test_faults.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.e2e import micro
from tests.e2e.pipeline import Pipeline, environment
from workflow_scripts.stages.catalogue import STAGES

pytestmark = pytest.mark.e2e

TRAINING = ("train.sockeye", "train/forward")
PATIENCE_SECONDS = 300
SNAPSHOT = re.compile(r"/snapshot\.\d+/")  # a whole one
RESUMED = "Resuming from saved state"


def job_of(parent: psutil.Process, module: str, folder: str) -> psutil.Process | None:
    """Return the Python process below `parent` that runs a module of ours for that folder."""
    for process in parent.children(recursive=True):
        try:
            command = process.cmdline()
        except psutil.Error:
            continue
        if command[1:3] == ["-m", f"workflow_scripts.stages.{module}"] and folder in " ".join(
            command
        ):
            return process
    return None


def files_below(folder: Path) -> set[str]:
    # Unlike Path.rglob, it puts up with folders that vanish meanwhile.
    return {f"{parent}/{name}" for parent, _, names in os.walk(folder) for name in names}


def wait_for_job(
    snakemake: subprocess.Popen, pipeline: Pipeline, module: str, folder: str
) -> psutil.Process:
    """Wait until a job of the module has begun to write, and return its process.

    A training has begun when its first checkpoint is kept.
    """
    parent = psutil.Process(snakemake.pid)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (job := job_of(parent, module, folder)) is None:
        assert snakemake.poll() is None, f"the run ended without a job of {module}"
        assert time.monotonic() < deadline, f"no job of {module} has started"
        time.sleep(0.05)
    before = files_below(pipeline.folder / folder)
    while job.is_running():
        written = files_below(pipeline.folder / folder) - before
        if any(SNAPSHOT.search(path) or not module.startswith("train.") for path in written):
            break
        assert time.monotonic() < deadline, f"the job of {module} has written nothing"
        time.sleep(0.002)
    return job


def kill_in(pipeline: Pipeline, module: str, folder: str, victim: str) -> None:
    """Start the pipeline up to the stage of the folder, and kill it in a job of the module."""
    with pipeline.started(Path(folder).parts[0]) as snakemake:
        job = wait_for_job(snakemake, pipeline, module, f"results/{folder}")
        if victim == "all":
            os.killpg(snakemake.pid, signal.SIGKILL)
        else:
            job.kill()
        status = snakemake.wait(timeout=PATIENCE_SECONDS)
    assert status != 0, f"{module} came to its end in spite of it"


def log_of(pipeline: Pipeline, role: str) -> str:
    return (pipeline.unit(f"train.{role}") / "work" / "sockeye.log").read_text(encoding="utf-8")


def metrics_of(pipeline: Pipeline, role: str) -> dict[str, Any]:
    path = pipeline.unit(f"train.{role}") / "metrics.json"
    return json.loads(path.read_text(encoding="utf-8"))


def test_training_that_was_killed_is_resumed_and_ends_with_the_same_bytes(whole, own_copy_of):
    pipeline = own_copy_of(whole)
    results = pipeline.folder / "results"
    for stage in STAGES[[stage.name for stage in STAGES].index("generate") :]:
        shutil.rmtree(results / stage.name)
    shutil.rmtree(results / "train" / "forward")
    kill_in(pipeline, *TRAINING, "job")
    assert not list((results / "train" / "forward").rglob("manifest.json"))
    pipeline.run("train")

    assert RESUMED in log_of(pipeline, "forward")
    assert RESUMED not in log_of(whole, "forward")
    first, second = metrics_of(whole, "forward"), metrics_of(pipeline, "forward")
    assert second["updates"] == first["updates"]
    assert second["validation_perplexity"] == pytest.approx(
        first["validation_perplexity"], rel=0.01
    )
    assert pipeline.hashes("train.forward") == whole.hashes("train.forward")
    assert "Nothing to be done" in pipeline.run("train", "--dry-run")


@pytest.mark.rest
def test_second_run_in_the_same_folder_is_refused_while_the_first_is_alive(bitext, tmp_path):
    pipeline = Pipeline(tmp_path / "work", micro.config(bitext))
    locks = pipeline.folder / ".snakemake" / "locks"
    with pipeline.started("train") as first:  # which takes longer than the second one's start
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not list(locks.glob("*.lock")) and time.monotonic() < deadline:
            time.sleep(0.01)
        second = subprocess.run(
            pipeline.command("corpus"), env=environment(), capture_output=True, text=True
        )
        assert second.returncode != 0
        assert "Directory cannot be locked" in second.stderr
        assert first.wait(PATIENCE_SECONDS) == 0
