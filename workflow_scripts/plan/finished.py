"""What of a run is finished: its jobs are spared, and what was lost is made again.

Snakemake judges by times, and looks only for files that some job reads. A manifest names all files
of its unit, and the manifests that the unit read, with their hashes. So it tells whether a unit is
whole, whatever copies did to the times, and whether what it read is still the same.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.paths import with_names
from workflow_scripts.core.files.seal import read_sealed
from workflow_scripts.plan.layout import Layout, unit_name
from workflow_scripts.plan.selection import Unit


class Refusal(NamedTuple):
    """A finished model that is damaged or gone, and that nobody asked to train again.

    Attributes:
        unit: the model.
        message: what happened, and what the user can do.
        spared: its training does not run even so; the others' would.
    """

    unit: Unit
    message: str
    spared: bool


class Finished:
    """What of a run is finished, and what must be made again.

    Attributes:
        spared: finished units. Their jobs don't run, whatever the times of files are, and whether
            what they read is still there: what is gone is made again with the same content.
        trained: models whose trainings don't run either; the manifest may.
        kept: those among them whose manifest stays too, since it tells what is wrong with them.
        files: by unit, the files that must be made again, which Snakemake would not see.
        refusals: for the models among them.
    """

    def __init__(self, layout: Layout, again: Collection[Unit] = ()):
        """Look at all units of a run.

        Args:
            layout: of the run.
            again: units that the user wants to be made again, with all that depends on them.

        Raises:
            InputError: a manifest is damaged; the message says what to do.
        """
        self._layout = layout
        self._again = depending(layout, again)
        # Units that will not be made again with the content that their readers knew.
        self._changing: set[Unit] = set()
        self.spared: set[Unit] = set()
        self.trained: set[Unit] = set()
        self.kept: set[Unit] = set()
        self.files: dict[Unit, list[str]] = {}
        self.refusals: list[Refusal] = []
        self._manifests = {unit: read_manifest(layout, unit) for unit in layout.units()}
        self._read = {
            name
            for manifest in self._manifests.values()
            if manifest
            for name in manifest.get("upstream", {})
        }
        for unit in layout.units():
            self._look_at(unit)

    def refused(self, targets: Collection[Unit], omitted: Collection[Unit] = ()) -> list[Refusal]:
        """Return the refusals that count for a run.

        Args:
            targets: the units that it is to make.
            omitted: units that the user leaves out, with all that depends on them.
        """
        needed = self._layout.all_upstream(targets) - depending(self._layout, omitted)
        to_make: set[Unit] = set()
        todo = list(targets)
        while todo:
            unit = todo.pop()
            if unit not in to_make | self.spared:
                to_make.add(unit)
                todo += self._layout.upstream(unit)
        return [
            refusal
            for refusal in self.refusals
            if refusal.unit in needed and (refusal.spared or refusal.unit in to_make)
        ]

    def changed_since(self) -> dict[Unit, list[Unit]]:
        """Return the spared units whose input has changed, each with the units that changed.

        These were made again meanwhile, with another content than before.
        """
        changed = {}
        for unit in sorted(self.spared, key=self._layout.units().index):
            manifest = self._manifests[unit]
            if manifest and (others := other_content(self._layout, unit, manifest)):
                changed[unit] = others
        return changed

    def _look_at(self, unit: Unit) -> None:
        layout, manifest = self._layout, self._manifests[unit]
        changed = [read for read in layout.upstream(unit) if read in self._changing]
        trains = layout.declaration(unit[0]).trains(unit[1]) and unit not in self._again
        if unit in self._again or changed:
            self._changing.add(unit)
        if manifest is None:
            if trains:
                self._look_at_model(unit, changed)
            elif self._was_read(unit) and _is_there(Path(layout.folder(*unit))):
                # Snakemake does not come to it through what was made of it, which is finished.
                self.files[unit] = [str(manifest_path(layout, unit))]
            return
        lost = gone(layout, unit, manifest["parts"])
        others = other_content(layout, unit, manifest)
        if others or _differs(_records(layout, unit), manifest["parts"]):
            self._changing.add(unit)
        if unit not in self._changing and not lost:
            self.spared.add(unit)
        elif trains:
            self._spare_model(unit, lost, others, changed)
        elif others:
            self.files[unit] = unit_files(layout, unit, manifest["parts"])
        elif lost:
            self.files[unit] = lost

    def _spare_model(
        self, unit: Unit, lost: list[str], others: list[Unit], changed: list[Unit]
    ) -> None:
        """Do not make a finished model again; refuse the run if it needs it."""
        name, record = unit_name(*unit), self._record(unit)
        again = f"add --forcerun {record}, to train again and make all again that depends on it"
        self.trained.add(unit)
        if lost:
            more = f" and {len(lost) - 1} more of its unit" if len(lost) > 1 else ""
            message = (
                f"{lost[0]}{more} is gone. To make it again would train once more: {name}. Put it "
                f"back from a copy; or {again}"
            )
        elif others:
            message = (
                f"{name} was made of another {_named(others)} than is there now, by the hash in "
                f"its manifest. To make it again would train once more. Put {_named(others)} back "
                f"from a copy; or delete {manifest_path(self._layout, unit)}, to keep the model "
                f"as it is; or {again}"
            )
        elif changed:
            message = (
                f"{name} was made of {_named(changed)}, which is to be made again with another "
                "content. To follow it would train once more. Put back from a copy what changed; "
                f"or make {_named(changed)} alone first, by its stage as target; or {again}"
            )
        else:  # its record is newer than its manifest, which is made again
            return
        self.refusals.append(Refusal(unit, message, _is_there(Path(record))))
        if self._manifests[unit] is not None:
            self.kept.add(unit)

    def _look_at_model(self, unit: Unit, changed: list[Unit]) -> None:
        """Look at a unit that trains and has no manifest: is it finished but for that?"""
        layout, name, record = self._layout, unit_name(*unit), self._record(unit)
        folder = layout.folder(*unit)
        records = _records(layout, unit)
        if None not in records.values():
            lost = gone(layout, unit, records)
            self._spare_model(unit, lost, [], changed)
            unknown = [
                read for read in layout.upstream(unit) if None in _records(layout, read).values()
            ]
            if unknown and not (lost or changed):
                message = (
                    f"{record} is there without its manifest, and {_named(unknown)}, which it was "
                    f"made of, is gone: whether the model must be trained once more can't be "
                    f"known. Put {_named(unknown)} or the manifest back from a copy; or make "
                    f"{_named(unknown)} first, by its stage as target, to keep the model as it is; "
                    f"or add --forcerun {record}, to train again"
                )
                self.refusals.append(Refusal(unit, message, spared=False))
        elif self._was_read(unit) and not _is_there(Path(folder)):
            message = (
                f"{folder} is gone, of which other finished units were made. To make it again "
                f"would train once more: {name}. Put it back from a copy; or add --forcerun "
                f"{record}, to train again and make all again that depends on it"
            )
            self.refusals.append(Refusal(unit, message, spared=False))

    def _was_read(self, unit: Unit) -> bool:
        """Return whether other finished units were made of a unit."""
        return f"{unit_name(*unit)}/{self._layout.key(*unit)}" in self._read

    def _record(self, unit: Unit) -> str:
        return f"{self._layout.folder(*unit)}/{self._layout.records(*unit)[0]}.json"


def depending(layout: Layout, units: Collection[Unit]) -> set[Unit]:
    """Return `units`, all that read them, and so on."""
    known = set(units)
    for unit in layout.units() if known else ():
        if known.intersection(layout.upstream(unit)):
            known.add(unit)
    return known


def trained_anew(layout: Layout) -> Iterator[str]:
    """Yield a line for each model that is to be trained, and the latest finished one of its name.

    A new corpus is enough for that, even one that nothing is trained on: duplicates are sought in
    all corpora.
    """
    for unit in layout.units():
        folder = Path(layout.folder(*unit))
        if not layout.declaration(unit[0]).trains(unit[1]) or _is_there(folder):
            continue
        try:
            paths = folder.parent.glob("*/manifest.json")
            path = max(paths, key=lambda path: path.stat().st_mtime, default=None)
            manifest = read_sealed(path) if path else None
        except (OSError, ValueError):
            continue
        if path and manifest:
            own = {f"{unit_name(*read)}/{layout.key(*read)}" for read in layout.upstream(unit)}
            others = sorted(
                name.rpartition("/")[0] for name in own - manifest.get("upstream", {}).keys()
            )
            same = manifest.get("config") == with_names(layout.settings(unit))
            settings = [] if same else ["its settings"]
            yield (
                f"{unit_name(*unit)} is not trained yet as this run wants it; {path.parent} "
                f"differs in {', '.join([*settings, *others]) or 'the version of its stage'}"
            )


def manifest_path(layout: Layout, unit: Unit) -> Path:
    """Return the path of a unit's manifest."""
    return Path(layout.folder(*unit), "manifest.json")


def read_manifest(layout: Layout, unit: Unit) -> dict[str, Any] | None:
    """Return the manifest of a unit; None if there is none.

    Raises:
        InputError: it is damaged, or that of another unit; the message says what to do.
    """
    path = manifest_path(layout, unit)
    try:
        manifest = read_sealed(path)
        if not isinstance(manifest.get("parts"), dict):
            raise ValueError("it tells of no parts")
    except OSError:
        return None
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}); delete it and run again") from error
    own = f"{unit_name(*unit)}/{layout.key(*unit)}"
    if (name := manifest.get("name", own)) != own:
        raise InputError(
            f"{path} is that of {name}: its folder holds what is another's. Put the folder's own "
            "files back from a copy; or move the folder away, and run again"
        )
    return manifest


def unit_files(layout: Layout, unit: Unit, records: dict[str, Any]) -> list[str]:
    """Return the paths of all files of a finished unit with these records, without its manifest."""
    folder = layout.folder(*unit)
    files = [f"{folder}/{name}" for name in layout.declaration(unit[0]).files(unit[1])]
    for name, record in records.items():
        parent = Path(folder, name).parent
        files += [
            f"{folder}/{name}.json",
            *(f"{parent}/{file}" for file in record.get("files", ())),
        ]
    return list(dict.fromkeys(files))


def gone(layout: Layout, unit: Unit, records: dict[str, Any], root: Path = Path()) -> list[str]:
    """Return the files of a finished unit that are not there, as paths from the root."""
    return [path for path in unit_files(layout, unit, records) if not _is_there(root / path)]


def other_content(
    layout: Layout, unit: Unit, manifest: dict[str, Any], root: Path = Path()
) -> list[Unit]:
    """Return the units whose manifests are not those that a finished unit was made of."""
    read = manifest.get("upstream", {})
    others = []
    for unit_read in layout.upstream(unit):
        try:
            digest = hashlib.sha256(
                (root / manifest_path(layout, unit_read)).read_bytes()
            ).hexdigest()
        except OSError:  # it is gone, and will be made again
            continue
        if digest != read.get(f"{unit_name(*unit_read)}/{layout.key(*unit_read)}"):
            others.append(unit_read)
    return others


def _records(layout: Layout, unit: Unit) -> dict[str, dict[str, Any] | None]:
    """Return the records of a unit by their names; None for one that is not there, or damaged."""
    records: dict[str, dict[str, Any] | None] = {}
    for name in layout.records(*unit):
        try:
            records[name] = read_sealed(Path(layout.folder(*unit), f"{name}.json"))
        except (OSError, ValueError):
            records[name] = None
    return records


def _differs(records: dict[str, dict[str, Any] | None], parts: dict[str, Any]) -> bool:
    """Return whether a manifest of these parts was made of other records than are there."""
    there = {name: record for name, record in records.items() if record is not None}
    return records.keys() != parts.keys() or any(parts[name] != there[name] for name in there)


def _is_there(path: Path) -> bool:
    """Return whether a path is there, or can't be seen; who reads it will say so."""
    try:
        return path.exists()
    except OSError:
        return True


def _named(units: Iterable[Unit]) -> str:
    return ", ".join(unit_name(*unit) for unit in units)
