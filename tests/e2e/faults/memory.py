"""A device that runs out of memory in jobs of a run that search and score candidates.

The limit is half of the memory that search and scoring use without a limit; so rows and batches are
halved. Sums are then added in another order, and may differ in their last digits. If two tokens are
almost equally probable, a sample may change.
"""

import os
import re
import shlex
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tests.configs import changes
from tests.e2e import micro
from tests.e2e.faults import small_device
from tests.e2e.faults.undisturbed import SCORED, Event, Undisturbed
from tests.e2e.pipeline import Pipeline, environment

# Nats per token.
TOLERANCE = 1e-4
# Share of the samples; if more change, halving has another effect than rounding.
MOST_CHANGED = 0.01
# The stages whose jobs run on the small device, with their modules and the columns compared.
STAGES = {
    "generate": ("workflow_scripts.stages.generate.candidates", ("forward_nll",)),
    "score": ("workflow_scripts.stages.score.shard", ("forward_nll", "backward_nll", "sum")),
}
# The other search of the core, beside the sampling of the micro run.
BEAM = changes("""
run: {systems: [micro, beam], training_sets: [], embeddings: [], rewriters: []}
systems.beam:
  search: {method: beam, beam_size: 4, nbest: 2}
  score: {prune_above: null}
  select: {method: best, best: 1, keep: {quantile: 0.7}}
""")
_REPORT = re.compile(small_device.REPORT.format(peak=r"(\d+)", failures=r"(\d+)"))

Table = list[dict[str, Any]]


def on_small_device(pipeline: Pipeline, limits: dict[str, int]) -> None:
    """Let jobs of a pipeline run on a small device.

    Args:
        pipeline: its other jobs run as usual.
        limits: bytes by module; 0 for none.
    """
    folder = pipeline.folder / "bin"
    folder.mkdir(exist_ok=True)
    real = shlex.quote(sys.executable)
    cases = [
        f'{module}) exec {real} {shlex.quote(small_device.__file__)} {limit} "$@" ;;'
        for module, limit in limits.items()
    ]
    python = folder / "python"
    lines = ["#!/bin/sh", 'case "$2" in', *cases, "esac", f'exec {real} "$@"']
    micro.write_lines(python, lines)
    python.chmod(0o755)
    path = f"{folder}{os.pathsep}{environment()['PATH']}"
    pipeline.environment = {**pipeline.environment, "PATH": path}


def reports(pipeline: Pipeline) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the peak memory of the last job of each stage and system, and how often it ran out."""
    found = {}
    for stage in STAGES:
        for system in pipeline.config["run"]["systems"]:
            (log,) = (pipeline.folder / "results" / "logs" / stage / system).rglob("0000.log")
            peak, failures = _REPORT.search(log.read_text(encoding="utf-8")).groups()
            found[stage, system] = int(peak), int(failures)
    return found


def tables(pipeline: Pipeline) -> dict[tuple[str, str], Table]:
    """Return the candidates that each stage wrote for each system."""
    return {
        (stage, system): pq.read_table(
            pipeline.unit(f"{stage}.{system}") / "0000.parquet"
        ).to_pylist()
        for stage in STAGES
        for system in pipeline.config["run"]["systems"]
    }


def forget(pipeline: Pipeline) -> None:
    """Remove all candidates and scores; the references stay."""
    for stage in STAGES:
        for system in pipeline.config["run"]["systems"]:
            shutil.rmtree(pipeline.folder / "results" / stage / system, ignore_errors=True)


def compare(before: Table, after: Table, columns: tuple[str, ...]) -> tuple[int, int, float]:
    """Return the number of candidates, the number of changed ones, and the largest difference.

    The difference is that of scores of equal candidates. A sample is identified by constraint set
    and number, a scored candidate by its text.
    """
    total, changed, largest = 0, 0, 0.0
    for old, new in zip(before, after, strict=True):
        assert old["id"] == new["id"]
        known = {_identity(each): each for each in new["candidates"]}
        for candidate in old["candidates"]:
            total += 1
            other = known.get(_identity(candidate))
            if other is None:
                changed += 1
                continue
            gaps = (abs(candidate[column] - other[column]) for column in columns)
            largest = max(largest, *gaps)
    return total, changed, largest


def _identity(candidate: dict[str, Any]) -> tuple[Any, ...]:
    return candidate.get("set"), candidate.get("sample"), candidate["text"]


def run_out(
    undisturbed: Undisturbed, folder: Path, beam: bool = True, target: tuple[str, ...] = ()
) -> Iterator[Event]:
    """Run search and scoring with all the memory they need, then with half of it, and compare.

    Args:
        undisturbed: the run with the trained models.
        folder: of the run; it is new.
        beam: whether beam search runs beside the sampling.
        target: of the run with little memory; everything by default.
    """
    pipeline = undisturbed.begun(folder, SCORED)
    if beam:
        pipeline = pipeline.with_config(micro.merged(pipeline.config, BEAM))
    forget(pipeline)
    on_small_device(pipeline, {module: 0 for module, _ in STAGES.values()})
    pipeline.run("score")
    wanted, expected = reports(pipeline), tables(pipeline)
    wrong = set(undisturbed.wrong_files(pipeline)) & undisturbed.hashes.keys()
    assert not wrong, f"the simulated device alone changes {wrong}"
    forget(pipeline)
    limits = {
        module: min(peak for (name, _), (peak, _) in wanted.items() if name == stage) // 2
        for stage, (module, _) in STAGES.items()
    }
    on_small_device(pipeline, limits)
    start = time.monotonic()
    pipeline.run(*target)
    seconds = (time.monotonic() - start) / len(wanted)
    ran_out, found = reports(pipeline), tables(pipeline)
    for (stage, system), (_, failures) in ran_out.items():
        columns = STAGES[stage][1]
        total, changed, gap = compare(expected[stage, system], found[stage, system], columns)
        right = failures > 0 and gap <= TOLERANCE and changed <= MOST_CHANGED * total
        text = f"{changed} of {total} candidates changed, scores within {max(gap, 1e-7):.0e}"
        print(f"{stage} of {system}: ran out of memory {failures} times; {text}", flush=True)
        search = "beam search" if system == "beam" else "sampling"
        fault = f"device memory halved ({search})"
        yield Event(fault, stage, text if failures else "NEVER RAN OUT", seconds, right)
