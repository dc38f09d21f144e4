"""report.html: all figures of a run and fifty of its references on one self-contained page.

This module makes the frame of the page; the stages declare its sections (core/report/section.py).
"""

import argparse
from collections.abc import Iterable
from pathlib import Path

from workflow_scripts.core.cli import run, words
from workflow_scripts.core.files.atomic import write_text
from workflow_scripts.core.report.finished_run import FinishedRun, add_arguments, finished_run
from workflow_scripts.core.report.rendering import environment
from workflow_scripts.core.report.section import sections
from workflow_scripts.stages.release import TEMPLATES


def report(finished: FinishedRun, functions: Iterable[str]) -> str:
    """Return the page.

    Args:
        finished: the run.
        functions: `module:function` of each section, in the order of the page.
    """
    return (
        environment(TEMPLATES)
        .get_template("report.html.j2")
        .render(
            config=finished.config,
            systems=finished.instances("evaluate"),
            sections=sections(functions, finished),
        )
    )


def main(argv: list[str] | None = None) -> None:
    """Write the report of a run."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    add_arguments(parser, described=True)
    parser.add_argument(
        "--sections",
        nargs="+",
        required=True,
        metavar="MODULE:FUNCTION",
        help="in the order of the page",
    )
    parser.add_argument("--output", type=Path, required=True, help="report.html")
    arguments = parser.parse_args(words(argv))
    write_text(arguments.output, report(finished_run(arguments), arguments.sections))


if __name__ == "__main__":
    run(main)
