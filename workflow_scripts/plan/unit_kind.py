"""Kinds of units: a stage whose units differ in kind has one small class for each kind.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage


class UnitKind(ABC):
    """What a stage says of one unit. The methods are those of `Stage` that take an instance.

    Attributes:
        stage: the declaration of the stage.
        config: of the run.
        instance: the name of the unit.
    """

    def __init__(self, stage: Stage, instance: str):
        self.stage = stage
        self.config = stage.config
        self.instance = instance

    @abstractmethod
    def reads(self) -> list[Unit]:
        """Return the units that it reads. Their order is part of its digest."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Return its settings: the keys of the configuration that its commands get."""

    def shards(self) -> int:
        """Return the number of its shards."""
        return 0

    def records(self) -> list[str]:
        """Return the names of its records besides those of its shards."""
        return []

    def jobs(self) -> int:
        """Return the number of jobs that make it, without its manifest."""
        return self.shards() + len(self.records())

    def content(self) -> dict[str, Any]:
        """Return what its digest covers: the settings, with the user's files by content."""
        return self.settings()

    def inputs(self) -> dict[str, str]:
        """Return the SHA-256 of each of the user's files that its jobs read, by path."""
        return {}

    def outside(self) -> list[str]:
        """Return the files that its jobs keep outside its folder, each with its record."""
        return []

    def trains(self) -> bool:
        """Tell whether it is a model that takes long to train."""
        return False


class StageOfKinds(Stage):
    """A stage that asks the class of a unit what there is to say of it."""

    @abstractmethod
    def kinds(self) -> list[UnitKind]:
        """Return the units that the run has, in the order in which they are made."""

    @cached_property
    def _by_instance(self) -> dict[str, UnitKind]:
        return {unit.instance: unit for unit in self.kinds()}

    def kind(self, instance: str) -> UnitKind:
        """Return what the stage says of one unit."""
        return self._by_instance[instance]

    def instances(self) -> list[str | None]:
        return [*self._by_instance]

    def reads(self, instance: str) -> list[Unit]:
        return self.kind(instance).reads()

    def settings(self, instance: str) -> dict[str, Any]:
        return self.kind(instance).settings()

    def shards(self, instance: str) -> int:
        return self.kind(instance).shards()

    def records(self, instance: str) -> list[str]:
        return self.kind(instance).records()

    def jobs(self, instance: str) -> int:
        return self.kind(instance).jobs()

    def content(self, instance: str) -> dict[str, Any]:
        return self.kind(instance).content()

    def inputs(self, instance: str) -> dict[str, str]:
        return self.kind(instance).inputs()

    def outside(self, instance: str) -> list[str]:
        return self.kind(instance).outside()

    def trains(self, instance: str) -> bool:
        return self.kind(instance).trains()

    def files(self, instance: str) -> list[str]:
        return self.shard_files(instance)
