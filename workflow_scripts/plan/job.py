"""What the job of a rule reads and is told: a stage declares it once, beside its units.

The rule has its outputs, log, resources and environment. Its inputs and its command follow from the
declaration (`reads` and `command` in rules/common.smk), and the options of the command from the
signature of the function that it starts (`core/command.py`).

The Snakefile imports this module: only the standard library.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

# Paths, below the working directory.
Files: TypeAlias = "str | list[str] | None"


class Wildcards(Protocol):
    """The wildcards of a rule, by name."""

    def __getattr__(self, name: str) -> str:
        """Return the value of one wildcard."""


@dataclass(frozen=True)
class Job:
    """What one job reads and is told.

    An option has the name of a parameter of the function that the command starts. What is None or
    an empty list is left out. `output` is the first output of the rule, where no option says more.

    Attributes:
        command: the module that it starts, below `workflow_scripts.stages`; that of a job of no
            stage, below `workflow_scripts`.
        instance: of the unit that it makes.
        reads: files that it waits for, and is told by the option of that name.
        awaits: files that it waits for and is not told: a record or a manifest that speaks for a
            folder, which is told in their place.
        users: the user's files that it reads. Their content names the folder of the unit, so that
            a later time alone is no reason to run.
        options: what else it is told: a word, a list of words, or a dict, which becomes JSON.
        outputs: the outputs of the rule, by name, that it is told besides the first.
        config: whether it is told the settings of the unit.
        inputs: whether it is told the hashes of the user's files that the unit reads, by path.
    """

    command: str
    instance: str | None = None
    reads: Mapping[str, Files] = field(default_factory=dict)
    awaits: Sequence[str] = ()
    users: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    outputs: Sequence[str] = ()
    config: bool = True
    inputs: bool = False
