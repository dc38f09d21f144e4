"""`paraloom runs list`, `show RUN`, `compare A B`, `collect`, `forget FOLDER`.

See docs/runs.md.
"""

import argparse
import os
from contextlib import nullcontext
from pathlib import Path

from tabulate import tabulate

from workflow_scripts.commands.runs.compare import compare
from workflow_scripts.commands.runs.garbage import alone, delete, find_garbage, forget, results_of
from workflow_scripts.commands.runs.run_list import describe, run_folders, run_line, size_text
from workflow_scripts.commands.runs.show import show
from workflow_scripts.core.cli import CommandParser, count, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.run.run_folders import RUNS, run_folder


def list_runs(_: argparse.Namespace) -> None:
    """Print the runs of the working directory."""
    folders = run_folders()
    if not folders:
        raise InputError(f"no run below {RUNS}/: call this in the working directory of runs")
    print(describe([run_line(folder) for folder in folders]))


def show_run(arguments: argparse.Namespace) -> None:
    """Print some references of a finished run with their paraphrases by every system."""
    print(show(run_folder(arguments.run), arguments.examples, arguments.seed))


def compare_runs(arguments: argparse.Namespace) -> None:
    """Print what differs between two runs, each given by name or folder."""
    print(compare(run_folder(arguments.first), run_folder(arguments.second)))


def collect(arguments: argparse.Namespace) -> None:
    """Print the stage folders that no run needs; delete them only with --delete."""
    with alone(RUNS) if arguments.delete else nullcontext():
        garbage = find_garbage(RUNS, arguments.keep_hours * 3600)
        if arguments.delete:
            delete(garbage)
    if not garbage:
        print("Every stage folder is needed by a run, or too new.")
        return
    rows = [[os.path.relpath(item.folder), size_text(item.size)] for item in garbage]
    print(tabulate(rows, ["no run needs", "size"], colalign=["left", "right"]))
    total = size_text(sum(item.size for item in garbage))
    done = "deleted" if arguments.delete else "would be deleted: nothing was; add --delete"
    print(f"\n{len(garbage):,} folders, {total} {done}")


def forget_directory(arguments: argparse.Namespace) -> None:
    """Forget the runs of a working directory that is gone for good."""
    folders = [arguments.results] if arguments.results else sorted(map(results_of, run_folders()))
    if not folders:
        raise InputError(f"no run below {RUNS}/: name the results folder with --results")
    for results in dict.fromkeys(folders):
        for forgotten in forget(arguments.directory, results.resolve()):
            print(f"forgotten: {forgotten}")


def main(argv: list[str] | None = None) -> None:
    """List runs, show one's paraphrases, compare two, collect what none needs, forget."""
    parser = CommandParser(description=main.__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("list", help=list_runs.__doc__)
    command.set_defaults(call=list_runs)
    command = commands.add_parser("show", help=show_run.__doc__)
    command.add_argument("run", type=Path, help="name or folder of a run")
    command.add_argument("--examples", type=count, default=20, help="references (default: 20)")
    command.add_argument("--seed", type=int, default=1, help="of the draw (default: 1)")
    command.set_defaults(call=show_run)
    command = commands.add_parser("compare", help=compare_runs.__doc__)
    command.add_argument("first", type=Path, help="name or folder of a run")
    command.add_argument("second", type=Path, help="of the other")
    command.set_defaults(call=compare_runs)
    command = commands.add_parser("collect", help=collect.__doc__)
    command.add_argument("--delete", action="store_true", help="delete them, not only list them")
    command.add_argument(
        "--keep-hours",
        type=float,
        default=1.0,
        help="keep folders that were changed less than so many hours ago (default: 1)",
    )
    command.set_defaults(call=collect)
    command = commands.add_parser("forget", help=forget_directory.__doc__)
    command.add_argument("directory", type=Path, help="the working directory, as collect names it")
    command.add_argument(
        "--results", type=Path, help="a folder that it used (default: those of the runs here)"
    )
    command.set_defaults(call=forget_directory)
    arguments = parser.parse_args(argv)
    arguments.call(arguments)


if __name__ == "__main__":
    run(main)
