"""The state of every unit of a run: shards, rows, speed, time left."""

import csv
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, TypedDict

from workflow_scripts.commands.status.run_jobs import RUNNING, Job, failure, last_progress
from workflow_scripts.core.files.manifest import remedy
from workflow_scripts.core.files.seal import read_sealed
from workflow_scripts.plan.finished import gone, manifest_path, other_content
from workflow_scripts.plan.run.events import FAILED
from workflow_scripts.plan.run.linked_layout import LinkedLayout
from workflow_scripts.plan.run.run_folders import link_name
from workflow_scripts.plan.run.tools import tools_of
from workflow_scripts.plan.selection import Unit
from workflow_scripts.stages.catalogue import linked_layout

# What a damaged table of seconds raises.
_DAMAGES = (ValueError, KeyError, TypeError, csv.Error)


class JobError(TypedDict):
    """A job that failed: its unit, when (seconds since 1970), its log and its message."""

    unit: str
    time: float
    log: str | None
    message: str


@dataclass
class UnitStatus:
    """One unit: a stage, or one instance of it.

    It has one record for each shard, and others (docs/runs.md). `done`, `running`, `failed` and
    `waiting` count them. `rate` is in `unit` per second, summed over the jobs that run, or over all
    finished jobs; `seconds_left` assumes as many jobs at a time as now. `damaged` says which of its
    records and its manifest, and of its files if they were verified, are not what their stage
    wrote, and what to do; `gone` are the files that its manifest names and that are not there;
    `made_of_others` are the units that it read with other content than they have now; `tools` are
    the versions of the packages that made it.
    """

    name: str
    done: int = 0
    running: int = 0
    failed: int = 0
    waiting: int = 0
    rows_in: int = 0
    rows_out: int = 0
    rejected: dict[str, int] = field(default_factory=dict)
    share: float = 0.0
    rate: float | None = None
    unit: str = "rows"
    seconds_left: float | None = None
    errors: list[JobError] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    made_of_others: list[str] = field(default_factory=list)
    tools: dict[str, list[str]] = field(default_factory=dict)

    @property
    def finished(self) -> bool:
        """Whether all its records are there."""
        return not (self.running or self.failed or self.waiting)


def job_seconds(root: Path, results: str, unit: Unit, key: str) -> list[float]:
    """Return the seconds of each finished job of a unit, without that of its manifest.

    They say how fast a run is, and decide nothing: a table that was cut or damaged counts as none.
    """
    folder = root / results / "benchmarks" / "/".join(part for part in unit if part)
    paths = [folder / f"{key}.tsv", *(folder / key).rglob("*.tsv")]
    seconds = []
    for path in paths:
        if path.is_file() and path.name != "manifest.tsv":
            with path.open(encoding="utf-8", newline="") as table, suppress(*_DAMAGES):
                seconds += [float(row["s"]) for row in csv.DictReader(table, delimiter="\t")]
    return seconds


def record_paths(layout: LinkedLayout, unit: Unit) -> list[str]:
    """Return the paths of all records of a unit, also of files that it keeps outside its folder.

    They are relative to the working directory, as in the rules.
    """
    folder = layout.folder(*unit)
    paths = [f"{folder}/{name}.json" for name in layout.records(*unit)]
    stage, instance = unit
    outside = layout.declaration(stage).outside(instance)
    return [*paths, *(f"{path}.json" for path in outside)]


def _read_records(root: Path, paths: list[str]) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return the whole records that are there, by path, and what is wrong with damaged ones."""
    records, damaged = {}, []
    for path in paths:
        try:
            records[path] = read_sealed(root / path)
        except FileNotFoundError:
            continue
        except ValueError as error:
            damaged.append(f"{path} is damaged ({error}); {remedy(root / path)}")
    return records, damaged


def unit_status(layout: LinkedLayout, unit: Unit, jobs: dict[str, Job]) -> UnitStatus:
    """Return the state of one unit.

    Args:
        layout: of the run.
        unit: one of its units.
        jobs: as `latest_jobs` returns them.
    """
    results = layout.config["results"]
    names = record_paths(layout, unit)
    records, damaged = _read_records(layout.root, names)
    manifests, damage = _read_records(layout.root, [str(manifest_path(layout, unit))])
    state = UnitStatus(link_name(*unit), done=len(records), damaged=damaged + damage)
    state.tools = tools_of([*records.values(), *manifests.values()])
    for manifest in manifests.values():
        state.gone = gone(layout, unit, manifest.get("parts", {}), layout.root)
        others = other_content(layout, unit, manifest, layout.root)
        state.made_of_others = [link_name(*other) for other in others]
    rejected: Counter[str] = Counter()
    for record in records.values():
        state.rows_in += record.get("rows_in", 0)  # a download has none
        state.rows_out += record.get("rows_out", 0)
        rejected.update(record.get("rejected", {}))
    state.rejected = dict(rejected)
    running: dict[str | None, Job] = {}
    failed: dict[str | None, Job] = {}
    for name in names:
        job = jobs.get(name)
        if name in records or job is None:
            continue
        if job.state == RUNNING:
            state.running += 1
            running[job.log] = job
        elif job.state == FAILED:
            state.failed += 1
            failed[job.log] = job
    state.waiting = len(names) - state.done - state.running - state.failed
    state.errors = [
        {
            "unit": state.name,
            "time": job.time,
            "log": log,
            "message": failure(layout.root / log) if log else f"rule {job.rule} failed",
        }
        for log, job in failed.items()
    ]
    seconds = job_seconds(layout.root, results, unit, layout.key(*unit))
    _add_speed(state, layout.root, running, seconds)
    return state


def _add_speed(
    state: UnitStatus, root: Path, running: dict[str | None, Job], seconds: list[float]
) -> None:
    """Add rate, share and time left.

    Args:
        state: of the unit, with its counts.
        root: the working directory.
        running: the unit's jobs that run, by log; one job may make several records.
        seconds: of its finished jobs.
    """
    total = state.done + state.running + state.failed + state.waiting
    state.share = state.done / total if total else 1.0
    if not running:
        if seconds and sum(seconds) > 0:
            state.rate = state.rows_in / sum(seconds)
        if state.finished:
            state.seconds_left = 0.0
        elif seconds and state.waiting:
            state.seconds_left = fmean(seconds) * state.waiting
        return
    speeds = [last_progress(root / log) for log in running if log]
    known = [speed for speed in speeds if speed]
    if known:
        state.rate, state.unit = sum(speed.rate for speed in known), known[0].unit
    measured = [
        (speed.done, speed.total, speed.rate) for speed in known if speed.total and speed.rate > 0
    ]
    if measured:
        shares = [done / units for done, units, _ in measured]
        state.share += fmean(shares) * state.running / total
    if len(measured) == len(running):
        lefts = [(units - done) / rate for done, units, rate in measured]
        whole = fmean(seconds or [units / rate for _, units, rate in measured])
        state.seconds_left = (sum(lefts) + whole * state.waiting) / len(running)


def run_status(run: Path, jobs: dict[str, Job]) -> list[UnitStatus]:
    """Return the state of every unit of the run in folder `run`, in the order of the flow.

    Raises:
        InputError: there is no such run.
    """
    layout = linked_layout(run)
    return [unit_status(layout, unit, jobs) for unit in layout.units()]
