"""Show how far a run is, once or again and again (docs/runs.md)."""

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from workflow_scripts.commands.status.run_jobs import INTERRUPTED, jobs_of_run
from workflow_scripts.commands.status.state_table import describe
from workflow_scripts.commands.status.units import run_status
from workflow_scripts.commands.status.verify import verify_run
from workflow_scripts.core.cli import CommandParser, above_zero, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.run.run_folders import RUNS, run_folder
from workflow_scripts.plan.run.tools import mixed_versions
from workflow_scripts.stages.catalogue import linked_layout

# Moves the cursor of a terminal to its upper left corner and clears what is below.
_CLEAR = "\033[H\033[J"


def newest_run(runs: Path = RUNS) -> Path:
    """Return the run that was started last.

    Raises:
        InputError: there is none.
    """
    configs = list(runs.glob("*/config.yaml"))
    if not configs:
        raise InputError(
            f"no run below {runs}/: call this in the working directory of a run, or name its "
            "folder with --run"
        )
    return max(configs, key=lambda path: path.stat().st_mtime_ns).parent


def look(folder: Path) -> dict[str, Any]:
    """Return the state of a run: `run`, `alive`, `interrupted`, and `units`."""
    jobs, alive = jobs_of_run(folder)
    interrupted = {job.log for job in jobs.values() if job.state == INTERRUPTED}
    states = run_status(folder, jobs)
    return {"run": folder, "states": states, "alive": alive, "interrupted": len(interrupted)}


def as_json(status: dict[str, Any]) -> str:
    """Return `look`'s result as one JSON object."""
    return json.dumps(
        {
            "run": str(status["run"]),
            "alive": status["alive"],
            "interrupted": status["interrupted"],
            "units": [asdict(state) for state in status["states"]],
            "mixed_versions": mixed_versions({unit.name: unit.tools for unit in status["states"]}),
        },
        indent=2,
    )


def main(argv: list[str] | None = None) -> int:
    """Show how far a run is: shards, rows, speed, time left, and what failed."""
    parser = CommandParser(description=main.__doc__)
    parser.add_argument("--run", type=Path, help="name or folder; the newest one by default")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument(
        "--watch",
        type=above_zero,
        nargs="?",
        const=10.0,
        metavar="SECONDS",
        help="again and again, every 10 seconds by default, until the run has finished",
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="read all files and compare them with their records; ends with status 1 if one is "
        "damaged or gone",
    )
    arguments = parser.parse_args(argv)
    if arguments.verify and arguments.watch is not None:
        parser.error("--verify reads all files once; leave --watch out")
    folder = run_folder(arguments.run) if arguments.run else newest_run()
    if arguments.verify:
        return _verify(folder, arguments.json)
    while True:
        status = look(folder)
        text = as_json(status) if arguments.json else describe(**status)
        print(f"{_CLEAR}{text}" if arguments.watch and not arguments.json else text, flush=True)
        if arguments.watch is None or all(state.finished for state in status["states"]):
            return 0
        try:
            time.sleep(arguments.watch)
        except KeyboardInterrupt:
            return 0


def _verify(folder: Path, json_wanted: bool) -> int:
    """Show the state of a run and which of its files are damaged; return the exit status."""
    damaged = verify_run(linked_layout(folder))
    status = look(folder)
    for state in status["states"]:
        state.damaged += damaged.get(state.name, [])
    print(as_json(status) if json_wanted else describe(**status, verified=True))
    return int(any(state.damaged or state.gone for state in status["states"]))


if __name__ == "__main__":
    run(main)
