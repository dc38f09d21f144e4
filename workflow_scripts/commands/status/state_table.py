"""The state of a run as text for a terminal."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from workflow_scripts.commands.status.units import JobError, UnitStatus
from workflow_scripts.core.progress import duration
from workflow_scripts.core.report.terminal import fitted_table
from workflow_scripts.plan.run.tools import mixed_versions

HEADERS = ["stage", "done", "running", "failed", "waiting", "rows in", "rows out", "rejected"]
HEADERS += ["%", "speed", "left"]
_MESSAGE_LINES = 8


def _row(state: UnitStatus) -> list[str | int | None]:
    speed = f"{state.rate:,.3g} {state.unit}/s" if state.rate else None
    if state.rate and state.rate >= 999.5:  # else three digits would be 1e+03
        speed = f"{state.rate:,.0f} {state.unit}/s"
    left = None if state.seconds_left is None else duration(state.seconds_left)
    return [
        state.name,
        state.done,
        state.running or None,
        state.failed or None,
        state.waiting or None,
        state.rows_in,
        state.rows_out,
        ", ".join(f"{reason} {count:,}" for reason, count in sorted(state.rejected.items())),
        f"{state.share:.0%}",
        speed,
        None if state.finished else left,
    ]


def status_table(states: list[UnitStatus]) -> str:
    """Return one line per unit."""
    align = ["left", *["right"] * 6, "left", *["right"] * 3]
    rows = [_row(state) for state in states]
    return fitted_table(
        rows, HEADERS, texts=["stage", "rejected", "%", "speed", "left"], align=align
    )


def error_text(error: JobError) -> str:
    """Return a failed job's unit, time, log and message."""
    when = datetime.fromtimestamp(error["time"]).strftime("%Y-%m-%d %H:%M:%S")
    lines = error["message"].splitlines()[:_MESSAGE_LINES]
    message = "\n".join(f"    {line}" for line in lines)
    return f"{error['unit']} failed at {when}, log {error['log']}\n{message}"


def _lacks(state: UnitStatus) -> Iterator[str]:
    """Yield what a finished unit has lost, and what changed since it was made."""
    if state.gone:
        more = f" and {len(state.gone) - 1:,} more" if len(state.gone) > 1 else ""
        yield f"{state.name}: {state.gone[0]}{more} is gone"
    if state.made_of_others:
        others = ", ".join(state.made_of_others)
        yield f"{state.name} was made of another {others} than is there now"


def describe(
    run: Path, states: list[UnitStatus], alive: bool, interrupted: int, verified: bool = False
) -> str:
    """Return the whole text that `status` shows.

    Args:
        run: folder of the run.
        states: of its units.
        alive: whether a Snakemake works on it.
        interrupted: jobs that ran when their Snakemake ended.
        verified: whether all files were read and compared with their records.
    """
    records = sum(state.done + state.running + state.failed + state.waiting for state in states)
    done = sum(state.done for state in states)
    if all(state.finished for state in states):
        head = "finished"
    elif alive:
        head = "running"
    else:
        head = "not running; the command that started it goes on from here"
        if interrupted:
            head += f"; jobs under way when it ended: {interrupted:,}"
    sections = [f"{run}: {head}. {done:,} of {records:,} parts done.", status_table(states)]
    errors = sorted((error for state in states for error in state.errors), key=lambda e: e["time"])
    if len(errors) > 1:
        sections.append(f"{len(errors):,} jobs failed; the last one:")
    sections += [error_text(error) for error in errors[-1:]]
    sections += [f"warning: {message}" for state in states for message in state.damaged]
    sections += [f"warning: {message}" for state in states for message in _lacks(state)]
    sections += [
        f"warning: {message}" for message in mixed_versions({s.name: s.tools for s in states})
    ]
    if verified and not any(state.damaged or state.gone for state in states):
        sections.append("All files that are there are as their stages wrote them.")
    return "\n\n".join(sections)
