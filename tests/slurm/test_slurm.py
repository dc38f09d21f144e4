"""Runs on a real Slurm of one node, with the profile that clusters get.

The rules that run models go to a partition with pretended GPUs and compute on the CPU.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

import psutil
import pytest
import yaml

from tests.e2e import micro
from tests.e2e.pipeline import ROOT, Pipeline
from tests.slurm.cluster import cluster, obstacle

# One cluster at a time: on one worker.
pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("slurm"), pytest.mark.usefixtures("ctrl_c")]

PROFILE = ROOT / "profiles" / "slurm"
PATIENCE_SECONDS = 1200
UNFINISHED = ("RUNNING", "SUSPENDED", "COMPLETING")
NOTHING = "Nothing to be done"
# Less than the job takes, then enough.
TOO_LITTLE_MB = 200
GROWING = f"{TOO_LITTLE_MB} * 10 ** (attempt - 1)"
# Half of the jobs of the micro run: each starts a Snakemake on the node.
FEWER = {"run": {"training_sets": ["half"], "embeddings": [], "rewriters": [], "outside": []}}


@pytest.fixture(autouse=True)
def slurm(tmp_path):
    """A cluster of the test's own. It pretends to have four cores, so that jobs overlap."""
    reason = obstacle()
    if reason:
        if os.environ.get("PARALOOM_REQUIRE_SLURM") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with cluster(tmp_path / "slurm", cpus=4):
        yield


class SlurmJob(NamedTuple):
    """A job as Slurm knows it."""

    number: int
    state: str
    memory: str
    partition: str
    comment: str

    def runs(self, rule: str) -> bool:
        """Say whether it is a job of that rule, or of a group with that rule."""
        return rule in self.comment


def slurm_jobs(rule: str) -> list[SlurmJob]:
    """Return all jobs of a rule, in the order of their submission."""
    done = subprocess.run(
        ["squeue", "--states=all", "--noheader", "--format=%i|%T|%m|%P|%k"],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = (line.split("|") for line in done.stdout.splitlines())
    jobs = sorted(SlurmJob(int(number), *rest) for number, *rest in rows)
    return [job for job in jobs if job.runs(rule)]


def arguments(**changes: dict[str, str]) -> list[str]:
    """Return the arguments of Snakemake for the profile, without GPUs and with short waits."""
    profile = yaml.safe_load((PROFILE / "config.yaml").read_text(encoding="utf-8"))
    resources = profile["set-resources"]
    for rule, each in resources.items():
        resources[rule] = each | ({"device": "cpu"} if "device" in each else {})
    for rule, each in changes.items():
        resources[rule] = resources.get(rule, {}) | each
    return [
        *("--workflow-profile", str(PROFILE)),
        *("--slurm-init-seconds-before-status-checks", "3", "--latency-wait", "10"),
        "--set-resources",
        *(
            f"{rule}:{name}={value}"
            for rule, each in resources.items()
            for name, value in each.items()
        ),
    ]


@contextmanager
def started(pipeline: Pipeline, *more: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start Snakemake; what it says is appended to `terminal`."""
    with (
        (pipeline.folder / "terminal").open("ab") as terminal,
        pipeline.started(*more, terminal=terminal) as snakemake,
    ):
        yield snakemake


def said(pipeline: Pipeline) -> str:
    return (pipeline.folder / "terminal").read_text(encoding="utf-8")


def wait_for(condition: Callable[[], bool], pipeline: Pipeline, snakemake: subprocess.Popen):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert snakemake.poll() is None, said(pipeline)
        assert time.monotonic() < deadline, said(pipeline)
        time.sleep(0.1)


def running(rule: str) -> list[SlurmJob]:
    return [job for job in slurm_jobs(rule) if job.state == "RUNNING"]


def processes(rule: str) -> list[psutil.Process]:
    """Return the Snakemakes that work on a job of a rule on the node."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            command = " ".join(process.cmdline())
            if " --target-jobs " in command and rule in command and "snakemake" in command:
                found.append(process)
    return found


def stopped(rule: str) -> bool:
    """Say whether all processes of `processes` are stopped."""
    return {process.status() for process in processes(rule)} == {psutil.STATUS_STOPPED}


def locks(pipeline: Pipeline) -> list[str]:
    return [path.name for path in (pipeline.folder / ".snakemake" / "locks").glob("*")]


def test_a_job_runs_with_the_profile_and_makes_the_same_bytes(whole, copy_of):
    pipeline = copy_of(whole)
    (pipeline.unit("release") / "report.html").unlink()
    with started(pipeline, *arguments()) as snakemake:
        assert snakemake.wait(timeout=PATIENCE_SECONDS) == 0, said(pipeline)
    (job,) = slurm_jobs("release_report")
    assert (job.state, job.partition) == ("COMPLETED", "cpu")
    assert pipeline.hashes() == whole.hashes()
    assert not locks(pipeline)
    assert NOTHING in pipeline.run("--dry-run")


@pytest.mark.rest
def test_a_run_that_fails_ends_with_the_job_and_its_reason(finished, copy_of):
    other_lines = {"corpora": {"held_out": {"source": "web.cs"}}}
    pipeline = copy_of(finished).with_config(micro.merged(finished.config, other_lines))
    with started(pipeline, "corpus", "--retries", "0", *arguments()) as snakemake:
        assert snakemake.wait(timeout=PATIENCE_SECONDS) == 1, said(pipeline)
    lines = said(pipeline).splitlines()
    end = lines.index("1 job failed:")
    assert lines[end + 1].startswith("error: corpus_import held_out: ")
    assert "has 60 lines" in lines[end + 1]
    assert len(lines) - end < 9


@pytest.mark.rest
def test_killed_run_with_a_cancelled_job_and_one_short_of_memory_ends_with_the_same_bytes(
    finished, tmp_path
):
    config = micro.merged(finished.config, FEWER)
    pipeline = Pipeline(tmp_path / "work", config)
    given = arguments(generate_shard={"mem_mb": GROWING})

    with started(pipeline, *given) as snakemake:
        logs = pipeline.folder / "results" / "train"
        wait_for(lambda: bool(list(logs.glob("*/*/work/sockeye.log"))), pipeline, snakemake)
        snakemake.kill()
        snakemake.wait()
    orphans = [job.number for job in running("train_model")]
    assert orphans

    with started(pipeline, *given) as snakemake:
        wait_for(lambda: bool(running("score_shard")), pipeline, snakemake)
        (cancelled,) = running("score_shard")
        subprocess.run(["scancel", str(cancelled.number)], check=True)
        assert snakemake.wait(timeout=PATIENCE_SECONDS) == 0, said(pipeline)

    trained = slurm_jobs("train_model")
    assert {job.state for job in trained if job.number in orphans} == {"CANCELLED"}
    assert [job.state for job in trained if job.number not in orphans] == ["COMPLETED"] * 2
    assert [job.state for job in slurm_jobs("score_shard")] == ["CANCELLED", "COMPLETED"]
    assert [job.memory for job in slurm_jobs("generate_shard")] == ["200M", "2000M"]
    assert slurm_jobs("generate_shard")[1].state == "COMPLETED"
    assert slurm_jobs("generate_shard")[0].state in ("FAILED", "OUT_OF_MEMORY")
    for rule in ("train_model", "generate_shard", "score_shard"):
        assert {job.partition for job in slurm_jobs(rule)} == {"gpu"}
    assert {job.partition for job in slurm_jobs("clean_shard")} == {"cpu"}
    assert len(slurm_jobs("clean_shard")) == len(slurm_jobs("release_report")) == 1

    units = pipeline.units().keys() - {"release"}
    assert "evaluate.micro" in units
    assert pipeline.hashes(*units) == finished.hashes(*units)
    assert not list((pipeline.folder / "results").rglob(".*.tmp"))
    assert not locks(pipeline)
    assert NOTHING in pipeline.run("--dry-run")


@pytest.mark.rest
def test_ctrl_c_cancels_jobs_and_a_termination_waits_for_them_and_neither_leaves_a_lock(
    finished, copy_of
):
    pipeline = copy_of(finished)
    for stage in ("select", "evaluate", "release"):
        shutil.rmtree(pipeline.folder / "results" / stage)

    for ends_with, state in ((signal.SIGINT, "CANCELLED"), (signal.SIGTERM, "COMPLETED")):
        with started(pipeline, *arguments()) as snakemake:
            wait_for(lambda: bool(running("select_threshold")), pipeline, snakemake)
            assert locks(pipeline)
            (job,) = running("select_threshold")
            # Until then Snakemake does not know the job, and leaves it to the next run.
            known = f"SLURM jobid {job.number} "
            wait_for(lambda known=known: known in said(pipeline), pipeline, snakemake)
            if state == "CANCELLED":  # held, or it may be done before it is cancelled
                # A Slurm that starts a job while it suspends and cancels it may leave it behind.
                wait_for(lambda: bool(processes("select_threshold")), pipeline, snakemake)
                subprocess.run(["scontrol", "suspend", str(job.number)], check=True)
                wait_for(lambda: stopped("select_threshold"), pipeline, snakemake)
            snakemake.send_signal(ends_with)
            assert snakemake.wait(timeout=PATIENCE_SECONDS) != 0
        assert not locks(pipeline)
        # Slurm was told, and may not yet have done it.
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (last := slurm_jobs("select_threshold")[-1]).state in UNFINISHED:
            assert time.monotonic() < deadline, last
            time.sleep(0.2)
        assert last.state == state
        assert not slurm_jobs("select_shard")
        assert pipeline.folders("select") == set()
    pipeline.run()
    assert pipeline.hashes() == finished.hashes()
