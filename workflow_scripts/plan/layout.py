"""Where every stage writes: folders named by a digest of all that shapes their content.

A unit's key is `v<N>-<digest>`: N is the stage's version, the digest covers the unit's settings and
the keys of the units that it reads. So a unit that two runs have in common is made once. The
declaration of a stage (`plan/stage.py`) says what its units are and what they read.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import functools
import hashlib
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from workflow_scripts.core.environment import require_folder
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.input_files import FileHashes
from workflow_scripts.core.files.paths import with_names
from workflow_scripts.core.files.seal import canonical
from workflow_scripts.plan import checks, languages
from workflow_scripts.plan.config import Check, Config
from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Kind, Stage
from workflow_scripts.plan.validation import validate


def checks_of(stages: Iterable[type[Stage]]) -> list[Check]:
    """Return all checks of a configuration: of what belongs to no stage, then along the flow."""
    return [checks.problems, *(stage.problems for stage in stages)]


def unit_name(stage: str, instance: str | None) -> str:
    """Return `<stage>` or `<stage>/<instance>`."""
    return "/".join(part for part in (stage, instance) if part)


class Layout:
    """The resolved run: for each unit its settings, its key and its folder.

    Attributes:
        config: of the run; its systems have the names that their blocks give them.
        hashes: of the run's input files.
        absent: corpora whose files may be missing.
    """

    def __init__(self, config: Config, stages: Sequence[type[Stage]], absent: Collection[str] = ()):
        """Validate `config` and hash the run's input files.

        Args:
            config: of the run.
            stages: the declarations, in the order of the flow.
            absent: corpora whose files may be missing, in a layout that is only for plans. Their
                keys, and the keys of all that reads them, are not those of a run.

        Raises:
            InputError: the configuration or an input file is wrong, or no folder can be where
                results or downloads should be; the message names the key. Or units read each other
                in a circle; the message names them.
        """
        self.config = config = validate(config, checks_of(stages))
        for key in ("results", "downloads"):
            require_folder(config[key], key)
        self.absent = frozenset(absent)
        self.hashes = FileHashes(Path(config["results"]) / ".input_hashes.json")
        self._stages = {kind.name: kind(self) for kind in stages}
        self._path: list[Unit] = []
        try:
            for unit in self.units():
                self.key(*unit)
        finally:
            self.hashes.save()

    def notes(self) -> list[str]:
        """Return what the user should know before the run, one line each."""
        of_parts = [
            languages.notes(self.config),
            *(stage.notes(self.config) for stage in self.stages),
        ]
        return [note for notes in of_parts for note in notes]

    # --- stages and units --------------------------------------------------------------------

    @property
    def stages(self) -> list[Stage]:
        """The declarations, in the order of the flow."""
        return list(self._stages.values())

    def stage(self, kind: type[Kind]) -> Kind:
        """Return the declaration of one stage."""
        stage = self._stages[kind.name]
        assert isinstance(stage, kind)
        return stage

    def declaration(self, stage: str) -> Stage:
        """Return the declaration of the stage of that name.

        Raises:
            ValueError: there is no such stage.
        """
        if stage not in self._stages:
            raise ValueError(f"unknown stage {stage}")
        return self._stages[stage]

    def units(self) -> list[Unit]:
        """Return all units of the run, in the order of the flow: each follows what it reads."""
        return list(self._all_units)

    @functools.cached_property
    def _all_units(self) -> list[Unit]:
        return self.in_order(_units_of(self.stages))

    def released_units(self) -> list[Unit]:
        """Return the units of all released stages, in the same order."""
        return self.in_order(_units_of(stage for stage in self.stages if stage.released))

    def in_order(self, units: Collection[Unit]) -> list[Unit]:
        """Return units in an order in which each one follows the units that it reads.

        A unit that is read comes right before its first reader; otherwise the order stays.

        Raises:
            InputError: units read each other in a circle; the message names them.
        """
        seen: set[Unit] = set()
        ordered: list[Unit] = []
        for unit in units:
            self._append(unit, seen, ordered)
        wanted = set(units)
        return [unit for unit in ordered if unit in wanted]

    def _append(self, unit: Unit, seen: set[Unit], ordered: list[Unit]) -> None:
        # The way from the first unit to this one. What a unit reads may itself be put in order.
        if unit in self._path:
            circle = [*self._path[self._path.index(unit) :], unit]
            names = " reads ".join(unit_name(*read) for read in circle)
            raise InputError(f"units read each other in a circle: {names}")
        if unit in seen:
            return
        seen.add(unit)
        self._path.append(unit)
        try:
            for read in self.upstream(unit):
                self._append(read, seen, ordered)
        finally:
            self._path.pop()
        ordered.append(unit)

    def upstream(self, unit: Unit) -> list[Unit]:
        """Return the units that `unit` reads."""
        stage, instance = unit
        return self.declaration(stage).reads(instance)

    def all_upstream(self, units: Collection[Unit]) -> set[Unit]:
        """Return `units`, all that they read, and so on."""
        known: set[Unit] = set()
        todo = list(units)
        while todo:
            unit = todo.pop()
            if unit not in known:
                known.add(unit)
                todo += self.upstream(unit)
        return known

    # --- keys and folders --------------------------------------------------------------------

    def description(self, unit: Unit) -> dict[str, Any]:
        """Return what the unit's manifest says besides its records.

        The user's files go by names that do not depend on where they are.
        """
        stage, instance = unit
        return {
            "name": f"{unit_name(*unit)}/{self.key(*unit)}",
            "stage": stage,
            "instance": instance,
            "version": self.declaration(stage).version,
            "config": with_names(self.settings(unit)),
        }

    def settings(self, unit: Unit) -> dict[str, Any]:
        """Return the unit's settings, as its commands get them."""
        stage, instance = unit
        return self.declaration(stage).settings(instance)

    def key(self, stage: str, instance: str | None = None) -> str:
        """Return `v<N>-<digest>` of a unit."""
        return self._key_of((stage, instance))

    @functools.cache  # noqa: B019 - one layout lives as long as its process
    def _key_of(self, unit: Unit) -> str:
        stage, instance = unit
        declaration, upstream = self.declaration(stage), self.upstream(unit)
        shards = [self.shards(*other) for other in (unit, *upstream)]
        content = {
            "stage": stage,
            "version": declaration.version,
            "config": {**declaration.content(instance), "shards": shards},
            "upstream": [self.key(*other) for other in upstream],
        }
        digest = hashlib.sha256(canonical(content).encode("utf-8")).hexdigest()
        return f"v{declaration.version}-{digest[:12]}"

    def folder(self, stage: str, instance: str | None = None) -> str:
        """Return a unit's folder, below the working directory."""
        return f"{self.config['results']}/{unit_name(stage, instance)}/{self.key(stage, instance)}"

    # --- what a unit consists of -------------------------------------------------------------

    def shards(self, stage: str, instance: str | None = None) -> int:
        """Return the number of shards 0000, 0001, ... that a unit consists of."""
        return self.declaration(stage).shards(instance)

    def shard_names(self, stage: str, instance: str | None = None) -> list[str]:
        """Return 0000, 0001, ... for a unit."""
        return [f"{shard:04d}" for shard in range(self.shards(stage, instance))]

    def records(self, stage: str, instance: str | None = None) -> list[str]:
        """Return the names of all records of a unit: of its shards, then the others."""
        return [*self.shard_names(stage, instance), *self.other_records(stage, instance)]

    def other_records(self, stage: str, instance: str | None = None) -> list[str]:
        """Return the names of a unit's records besides those of its shards."""
        return self.declaration(stage).records(instance)

    def manifest_job(self, at: Wildcards) -> Job:
        """Return the job that merges the records of the unit `at.unit` into its manifest."""
        stage, _, name = at.unit.partition("/")
        instance = name or None
        unit, folder = (stage, instance), self.folder(stage, instance)
        waited_for = [f"{record}.json" for record in self.records(*unit)]
        waited_for += self.declaration(stage).files(instance)
        return Job(
            "core.files.manifest",
            instance,
            reads={
                "upstream": [f"{self.folder(*one)}/manifest.json" for one in self.upstream(unit)]
            },
            awaits=[f"{folder}/{file}" for file in waited_for],
            options={
                "unit": self.description(unit),
                "folder": folder,
                "shards": self.shards(*unit),
                "records": self.other_records(*unit),
            },
            config=False,
        )


def _units_of(stages: Iterable[Stage]) -> list[Unit]:
    return [stage.unit(instance) for stage in stages for instance in stage.instances()]
