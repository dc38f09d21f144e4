"""report.html: all figures of a run and some of its references on one self-contained page.

This module makes the frame of the page; the stages declare its sections (core/report/section.py).
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.files.atomic import write_text
from workflow_scripts.core.report.finished_run import FinishedRun, finished_run
from workflow_scripts.core.report.rendering import environment
from workflow_scripts.core.report.section import sections
from workflow_scripts.stages.release import TEMPLATES
from workflow_scripts.stages.release.doubts import doubts_of
from workflow_scripts.stages.train.doubts import ADVICE


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
            doubts=doubts_of(finished),
            advice=ADVICE,
            sections=sections(functions, finished),
        )
    )


def write_report(
    config: dict[str, Any],
    units: list[str],
    rows: dict[str, str],
    sections: list[str],
    output: Path,
) -> None:
    """Write the report of a run.

    Args:
        config: the release's part of the configuration.
        units: `<stage>[/<instance>]=<folder>` of the finished units, in the order of the flow.
        rows: what a row is, by stage; the units of these stages are described.
        sections: `module:function` of each section, in the order of the page.
        output: report.html.
    """
    write_text(output, report(finished_run(config, units, rows), sections))


main = command(write_report, __name__)
