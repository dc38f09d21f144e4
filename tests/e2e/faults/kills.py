"""Kills (-9) at random moments of random processes, spread over all stages.

A series is one run that is killed many times. Each time the same command starts it again, until all
stages are done. The moments are drawn from a seed: when a job of the stage appears, the kill waits
for a random share of the time of the stage's longest job. It hits the jobs that run at that moment.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from tests.e2e.faults.undisturbed import STAGES, TRAINED, Event, Undisturbed, outcome
from tests.e2e.pipeline import Pipeline

WORKER, SNAKEMAKE, ALL = "a worker", "Snakemake", "all"
VICTIMS = (WORKER, SNAKEMAKE, ALL)
# The first series begins with no stage done; the others begin with the trained models.
LATE = STAGES[len(TRAINED) :]
EARLY = ("corpus", "corpus", "clean", "clean", "subword", "subword", *["train"] * 3, *LATE)
SERIES = (EARLY, LATE, LATE)
PATIENCE_SECONDS = 600
_WRITES = re.compile(r"results/(\w+)/")
# How often a run may end before the kill; after that the kill is tried with a shorter wait.
_ATTEMPTS = 5


class Kill(NamedTuple):
    """A kill of `victim`.

    It comes when a job of `stage` has run for `share` of the time of the stage's longest job.
    """

    stage: str
    victim: str
    share: float


class Hit(NamedTuple):
    """The effect of a kill: the stages whose jobs were running, and files that are not whole."""

    kill: Kill
    stages: list[str]
    seconds: float
    wrong: list[str]


def planned(stages: tuple[str, ...], seed: str) -> list[Kill]:
    """Draw the kills of a series; the victims take turns, and the first one is random."""
    chance = random.Random(seed)
    first = chance.randrange(len(VICTIMS))
    return [
        Kill(stage, VICTIMS[(first + number) % len(VICTIMS)], chance.random())
        for number, stage in enumerate(stages)
    ]


def jobs_below(parent: psutil.Process) -> dict[psutil.Process, str]:
    """Return the processes of jobs that run below Snakemake, and the stage that each writes to."""
    found = {}
    with suppress(psutil.Error):
        for process in parent.children(recursive=True):
            with suppress(psutil.Error):
                command = process.cmdline()
                if command[1:2] == ["-m"] and command[2].startswith("workflow_scripts."):
                    found[process] = written_stage(command)
    return found


def written_stage(command: list[str]) -> str:
    """Return the stage that a job writes to, by the output in its command line."""
    return _WRITES.match(command[command.index("--output") + 1])[1]


def wait_for_moment(
    snakemake: subprocess.Popen[bytes], kill: Kill, seconds: float
) -> dict[psutil.Process, str]:
    """Wait for the moment of a kill; return the jobs that run then, none if the run has ended.

    Args:
        snakemake: the run.
        kill: the next one.
        seconds: time of the stage's longest job.
    """
    parent, deadline = psutil.Process(snakemake.pid), time.monotonic() + PATIENCE_SECONDS
    moment: float | None = None
    while snakemake.poll() is None:
        assert time.monotonic() < deadline, f"no job to kill for {kill}"
        jobs = jobs_below(parent)
        if moment is None and kill.stage in jobs.values():
            moment = time.monotonic() + kill.share * seconds
        if moment is not None and time.monotonic() >= moment and jobs:
            return jobs
        time.sleep(0.02)
    return {}


def strike(undisturbed: Undisturbed, pipeline: Pipeline, kill: Kill, chance: random.Random) -> Hit:
    """Run the pipeline and kill it.

    A stage that is finished already, by the run or by orphans of an earlier kill, is made again.
    """
    seconds = undisturbed.seconds(kill.stage)
    for attempt in range(_ATTEMPTS):
        if undisturbed.is_finished(pipeline, kill.stage):
            wait_for_orphans(pipeline.folder)
            # Later stages too; otherwise no job needs this one.
            for stage in STAGES[STAGES.index(kill.stage) :]:
                shutil.rmtree(pipeline.folder / "results" / stage, ignore_errors=True)
        start = time.monotonic()
        with pipeline.started() as snakemake:
            jobs = wait_for_moment(snakemake, kill, seconds / 2**attempt)
            stages = sorted(set(jobs.values()))
            if jobs and kill.victim == WORKER:
                of_stage = [job for job, stage in jobs.items() if stage == kill.stage]
                worker = chance.choice(of_stage or list(jobs))
                stages = [jobs[worker]]
                worker.kill()
            elif jobs and kill.victim == SNAKEMAKE:
                snakemake.kill()
            elif jobs:
                os.killpg(snakemake.pid, signal.SIGKILL)
            status = snakemake.wait(PATIENCE_SECONDS)
        if status != 0:
            assert jobs, f"the run failed by itself before {kill}"
            spent = time.monotonic() - start
            return Hit(kill, stages, spent, undisturbed.wrong_files(pipeline))
    raise AssertionError(f"{kill}: the run always ended before")


def wait_for_orphans(folder: Path) -> None:
    """Wait until no job that a killed Snakemake left behind works in a folder."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while any(_works_in(process, folder) for process in psutil.process_iter()):
        assert time.monotonic() < deadline, f"processes in {folder} do not end"
        time.sleep(0.1)


def _works_in(process: psutil.Process, folder: Path) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE and Path(process.cwd()).is_relative_to(
            folder.resolve()
        )
    except (psutil.Error, OSError):
        return False


def series(
    undisturbed: Undisturbed, folder: Path, stages: tuple[str, ...], seed: str
) -> Iterator[Event]:
    """Kill one run in one stage after the other, let it finish, and compare its files."""
    before = STAGES[: STAGES.index(stages[0])]
    pipeline, chance = undisturbed.begun(folder, before), random.Random(seed)
    hits = []
    for kill in planned(stages, seed):
        hit = strike(undisturbed, pipeline, kill, chance)
        print(
            f"seed {seed}: {kill.victim} killed {kill.share:.2f} of the longest job after the "
            f"first of {kill.stage} appeared, in {', '.join(hit.stages)}",
            flush=True,
        )
        hits.append(hit)
    start = time.monotonic()
    pipeline.run()
    share = (time.monotonic() - start) / len(hits)
    wait_for_orphans(folder)
    text, right = outcome(undisturbed.differences(pipeline))
    for hit in hits:
        wrong = f"HALF WRITTEN: {', '.join(hit.wrong)}"
        yield Event(
            f"`kill -9` of {hit.kill.victim}",
            hit.kill.stage if hit.kill.stage in hit.stages else hit.stages[0],
            wrong if hit.wrong else text,
            hit.seconds + share,
            right and not hit.wrong,
        )
