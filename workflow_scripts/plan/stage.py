"""What a stage declares of itself, once: `workflow_scripts/<stage>/stage.py` holds one `Stage`.

The layout, the rules, manifests, status, estimate, the report and the tests derive from these
declarations. `workflow_scripts/stages/catalogue.py` lists them in the order of the flow.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from typing import Any, ClassVar, Protocol, TypeVar

from workflow_scripts.core.files.input_files import FileHashes
from workflow_scripts.plan.config import Config
from workflow_scripts.plan.selection import Unit

# The name of an instance; None for a stage that is one unit. Each declaration knows which.
Instance = Any
Kind = TypeVar("Kind", bound="Stage")


class Plan(Protocol):
    """What a declaration may ask of the layout of its run; `plan/layout.py` says what each is."""

    config: Config
    hashes: FileHashes
    absent: frozenset[str]

    @property
    def stages(self) -> list["Stage"]:
        """The declarations, in the order of the flow."""

    def stage(self, kind: type[Kind]) -> Kind:
        """Return the declaration of one stage."""

    def declaration(self, stage: str) -> "Stage":
        """Return the declaration of the stage of that name."""

    def released_units(self) -> list[Unit]:
        """Return the units of all released stages, in the order of the flow."""

    def all_upstream(self, units: Collection[Unit]) -> set[Unit]:
        """Return `units`, all that they read, and so on."""

    def folder(self, stage: str, instance: str | None = None) -> str:
        """Return a unit's folder."""

    def shards(self, stage: str, instance: str | None = None) -> int:
        """Return the number of a unit's shards."""

    def shard_names(self, stage: str, instance: str | None = None) -> list[str]:
        """Return 0000, 0001, ... for a unit."""


class Stage(ABC):
    """The declaration of one stage.

    A unit is a stage, or one instance of it: a corpus, a role of a model, a system. `instance` is
    None for a stage that is one unit.

    Attributes:
        name: of the stage, its package, its rule file and its target rule.
        version: raised when the stage's output changes meaning; tests/e2e/golden.json notices when
            it must be.
        row: what a row of its data is, in the plural.
        released: whether the release reads all its units and describes them.
        wildcard: of its rules, which tells its instances apart; None for a stage of one unit.
        layout: of the run.
        config: of the run.
    """

    name: ClassVar[str]
    version: ClassVar[int]
    row: ClassVar[str]
    released: ClassVar[bool]
    wildcard: ClassVar[str | None] = None

    def __init__(self, layout: Plan):
        self.layout = layout
        self.config = layout.config

    # What every stage says:

    @abstractmethod
    def instances(self) -> list[str | None]:
        """Return the instances that the run has, or [None] for a stage of one unit."""

    @abstractmethod
    def reads(self, instance: Instance) -> list[Unit]:
        """Return the units that a unit reads. Their order is part of its digest."""

    @abstractmethod
    def settings(self, instance: Instance) -> dict[str, Any]:
        """Return a unit's settings: the keys of the configuration that its commands get."""

    # What some stages say:

    @staticmethod
    def problems(config: Config) -> Iterable[str]:
        """Yield what is wrong with the stage's keys of a configuration beyond its schema."""
        return ()

    @staticmethod
    def notes(config: Config) -> Iterable[str]:
        """Yield what the user should know before a run: what it leaves out by itself, and why."""
        return ()

    def shards(self, instance: Instance) -> int:
        """Return the number of shards that a unit consists of, each with a record."""
        return 0

    def records(self, instance: Instance) -> list[str]:
        """Return the names of a unit's records besides those of its shards."""
        return []

    def content(self, instance: Instance) -> dict[str, Any]:
        """Return what the digest covers: the settings, with the user's files by content."""
        return self.settings(instance)

    def inputs(self, instance: Instance) -> dict[str, str]:
        """Return the SHA-256 of each of the user's files that a unit's jobs read, by path."""
        return {}

    def files(self, instance: Instance) -> list[str]:
        """Return the files in a unit's folder that its manifest waits for, besides the records.

        They include data that no rule reads shard by shard. A job that needs a whole stage waits
        for its manifest alone, so Snakemake would not notice that this data is lost.
        """
        return []

    def outside(self, instance: Instance) -> list[str]:
        """Return the files that a unit's jobs keep outside its folder, each with its record."""
        return []

    def url(self, sha256: str, file: str) -> str | None:
        """Return the URL of a file that is kept under this hash and name, if the stage has it."""
        return None

    def hub_block(self, record: str) -> dict[str, Any] | None:
        """Return the block of the model whose files a record in the folder of downloads tells."""
        return None

    def wildcards(self) -> dict[str, list[str]]:
        """Return the wildcards that only this stage's rules have, each with its values."""
        return {}

    def trains(self, instance: Instance) -> bool:
        """Tell whether a unit is a model that takes long to train.

        Such a unit, once finished, is not made again unless the user asks for it.
        """
        return False

    def sections(self) -> dict[int, str]:
        """Return the sections of the report: `module:function` by the place on the page.

        The section is called as its function, and shown where the release reads the stage; see
        `core/report/section.py`.
        """
        return {}

    def tables(self) -> dict[str, str]:
        """Return the tables of the release: `module:function` by the table's name.

        The function makes a `Table` of a `FinishedRun` (`core/report`).
        """
        return {}

    # And of each rule `<stage>_<name>` what its job reads and is told, as `<name>_job(wildcards)`.

    def jobs(self, instance: Instance) -> int:
        """Return the number of jobs that make a unit, without its manifest."""
        return self.shards(instance) + len(self.records(instance))

    # What follows from that:

    def unit(self, instance: Instance = None) -> Unit:
        """Return one of the stage's units."""
        return (self.name, instance)

    def folder(self, instance: Instance = None) -> str:
        """Return the folder of one of the stage's units."""
        return self.layout.folder(self.name, instance)

    def file(self, unit: Unit, name: str) -> str:
        """Return the path of a file in the folder of a unit."""
        return f"{self.layout.folder(*unit)}/{name}"

    def manifest(self, unit: Unit) -> str:
        """Return the path of a unit's manifest."""
        return self.file(unit, "manifest.json")

    def named_folders(self, units: Mapping[str, Unit]) -> list[str]:
        """Return `<name>=<folder>` of units, as commands take them."""
        return [f"{name}={self.layout.folder(*unit)}" for name, unit in units.items()]

    def shard_files(self, instance: Instance, suffix: str = ".parquet") -> list[str]:
        """Return the names of one file of each shard of a unit."""
        return [f"{name}{suffix}" for name in self.layout.shard_names(self.name, instance)]

    def sha256(self, path: str, key: str) -> str:
        """Return the hash of a file of the user's; `key` is the configuration key that names it."""
        return self.layout.hashes.sha256(path, key)


def name_and_part(instance: str) -> tuple[str, str]:
    """Return the name of the model or lexicon that a unit is of, and what follows it, as `-pairs`.

    The model or the lexicon itself has nothing behind its name.
    """
    name, dash, part = instance.partition("-")
    return name, dash + part
