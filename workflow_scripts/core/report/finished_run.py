"""The finished units that a release reads; sections, tables and datasheets get them."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_manifest, shard_paths

# As in plan/selection.py, which needs packages that the environment of the release lacks.
Unit = tuple[str, str | None]


class FinishedRun:
    """The folders of the units that a release reads, in the order of the flow.

    As everywhere, each file in such a folder must be verified against its record when it is read.

    Attributes:
        config: the release's part of the configuration.
        rows: what a row is, by stage; only the units of these stages are described.
    """

    def __init__(
        self,
        config: dict[str, Any],
        units: Sequence[tuple[Unit, Path]],
        rows: Mapping[str, str] | None = None,
    ):
        """Take the folders of the units.

        Raises:
            InputError: a unit has two folders.
        """
        self.config = config
        self.rows = dict(rows or {})
        self._folders = dict(units)
        if len(self._folders) < len(units):
            names = [unit for unit, _ in units]
            twice = next(unit for unit in names if names.count(unit) > 1)
            raise InputError(f"--units names {_name(twice)} twice; name it once")

    def described(self) -> list[dict[str, Any]]:
        """Return the manifests of the described units, in order."""
        return [self.manifest(*unit) for unit in self._folders if unit[0] in self.rows]

    def times(self) -> list[float]:
        """Return when the manifests of the described units were written, in seconds since 1970."""
        folders = [folder for (stage, _), folder in self._folders.items() if stage in self.rows]
        return [(folder / "manifest.json").stat().st_mtime for folder in folders]

    def instances(self, stage: str) -> list[str]:
        """Return the instances of a stage, in order; none if no unit of the stage is named.

        Raises:
            InputError: a unit of the stage is named without its instance.
        """
        names = []
        for name, instance in self._folders:
            if name == stage:
                if instance is None:
                    raise InputError(
                        f"--units names {stage} without an instance; write {stage}/INSTANCE=FOLDER"
                    )
                names.append(instance)
        return names

    def has(self, stage: str, instance: str | None = None) -> bool:
        """Tell whether the folder of a unit was named."""
        return (stage, instance) in self._folders

    def folder(self, stage: str, instance: str | None = None) -> Path:
        """Return the folder of a unit.

        Raises:
            InputError: the unit was not named.
        """
        unit = (stage, instance)
        if unit not in self._folders:
            raise InputError(f"no folder of {_name(unit)} is named; add it to --units")
        return self._folders[unit]

    def manifest(self, stage: str, instance: str | None = None) -> dict[str, Any]:
        """Return the manifest of a unit.

        Raises:
            InputError: it is missing or damaged, or it belongs to another unit.
        """
        path = self.folder(stage, instance) / "manifest.json"
        manifest = read_manifest(path)
        if (manifest.get("stage"), manifest.get("instance")) != (stage, instance):
            raise InputError(
                f"{path} is not the manifest of {_name((stage, instance))}; correct --units"
            )
        return manifest

    def cpu_seconds(self, stage: str, instance: str) -> float | None:
        """Return the CPU-seconds of the jobs of a unit, as Snakemake measured them.

        None where it wrote nothing of them, as it does of jobs that took less than a second.
        """
        folder = self.folder(stage, instance)
        results = folder.parents[2]
        found = [
            float(row["cpu_time"])
            for path in sorted(
                (results / "benchmarks" / stage / instance / folder.name).glob("*.tsv")
            )
            for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines(), delimiter="\t")
            if (row.get("cpu_time") or "NA") not in ("NA", "-")
        ]
        return sum(found) if found else None

    def shards(self, stage: str, instance: str | None = None) -> list[Path]:
        """Return the data files of the shards of a unit."""
        count = sum(name.isdigit() for name in self.manifest(stage, instance)["parts"])
        return shard_paths(self.folder(stage, instance), count)


def finished_run(
    config: dict[str, Any], units: Sequence[str], rows: Mapping[str, str] | None = None
) -> FinishedRun:
    """Return a run whose units are named as commands take them: `<stage>[/<instance>]=<folder>`.

    Raises:
        InputError: a unit has another form, or two folders.
    """
    return FinishedRun(config, list(map(_named_folder, units)), rows)


def named(text: str) -> tuple[str, str]:
    """Return the two sides of `name=value`.

    Raises:
        InputError: one side is missing.
    """
    name, separator, value = text.partition("=")
    if not (name and separator and value):
        raise InputError(f"'{text}' is not of the form name=value")
    return name, value


def _named_folder(text: str) -> tuple[Unit, Path]:
    name, folder = named(text)
    stage, _, instance = name.partition("/")
    return (stage, instance or None), Path(folder)


def _name(unit: Unit) -> str:
    return "/".join(filter(None, unit))
