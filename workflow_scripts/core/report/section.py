"""The sections of the report. Each is a function and a template of a stage.

`workflow_scripts.stages.train.report:models` is the function `models` of that module. It takes a
`FinishedRun` and returns what the template shows, or None if the run has nothing to show. The
template is `templates/models.html.j2` beside the module: one `<section>` whose `<h2>` has the id
`models`, by which the navigation refers to it.
"""

import importlib
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from workflow_scripts.core.report.cells import COLUMNS
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.rendering import environment


class Section(NamedTuple):
    """A section of the page: its name, which is the id of its heading, and its HTML."""

    name: str
    html: Markup

    @property
    def title(self) -> str:
        """Return the title of the section in the navigation."""
        return self.name.replace("_", " ").capitalize()


def load(function: str) -> Callable[[FinishedRun], Any]:
    """Return the function `module:function` of a declaration.

    Raises:
        ValueError: the function does not exist.
    """
    module, _, name = function.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"a stage declares {function}, which is not there: {error}") from error


def sections(functions: Iterable[str], run: FinishedRun) -> list[Section]:
    """Return the sections that have something to show.

    Args:
        functions: `module:function` of each section, in the order of the page.
        run: the run that they show.

    Raises:
        ValueError: a function does not exist, or two sections have one name.
        InputError: a file that a section reads is missing or damaged.
    """
    by_name: dict[str, Section] = {}
    for function in functions:
        context = load(function)(run)
        if context is None:
            continue
        module, _, name = function.partition(":")
        if name in by_name:
            raise ValueError(f"{function}: the page has a section {name} already")
        folder = Path(inspect.getfile(importlib.import_module(module))).with_name("templates")
        template = environment(folder).get_template(f"{name}.html.j2", globals=COLUMNS)
        text = template.render(context)
        by_name[name] = Section(name, Markup(text))
    return list(by_name.values())
