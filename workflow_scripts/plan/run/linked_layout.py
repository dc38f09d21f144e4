"""The layout of a run that was started, read from its folder."""

from collections.abc import Sequence
from pathlib import Path

from workflow_scripts.core.environment import require_folder
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.layout import Layout
from workflow_scripts.plan.run.run_folders import link_name, read_config, root_of
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage


class LinkedLayout(Layout):
    """The layout of a run as it was started: its folders are those that `runs/<name>` links.

    It reads no file of the bitext, so it works wherever the run's folder is.
    """

    def __init__(self, run: Path, stages: Sequence[type[Stage]]):
        """Read the run in folder `run`.

        Args:
            run: its folder.
            stages: the declarations, in the order of the flow.

        Raises:
            InputError: there is no such run, or its configuration is of another version, or its
                results are not there.
        """
        self.run = run
        self.root = root_of(run)
        config = read_config(run)
        require_folder(str(self.root / config["results"]), "results")
        try:
            super().__init__(config, stages)
        except InputError as error:
            raise InputError(
                f"{run} was started by another version of the workflow, whose configuration this "
                f"one can't read; look at it with that version ({error})"
            ) from error

    def units(self) -> list[Unit]:
        """Return the units that the run links; a later version may know more."""
        return [unit for unit in super().units() if (self.run / link_name(*unit)).is_symlink()]

    def key(self, stage: str, instance: str | None = None) -> str:
        """Return `v<N>-<digest>` of a unit."""
        return (self.run / link_name(stage, instance)).readlink().name
