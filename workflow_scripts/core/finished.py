"""Finished units: find files that were lost, and repair file times that a copy changed.

Snakemake judges by times, and looks only for files that some job reads. A manifest names all files
of its unit, and the manifests that the unit read, with their hashes.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.layout import Layout, unit_name
from workflow_scripts.core.seal import read_sealed
from workflow_scripts.core.selection import Unit


class Lost(NamedTuple):
    """A finished unit that lost files.

    Attributes:
        unit: the unit.
        files: paths of the lost files, as the rules name them.
        trained: finished units that would be trained again if the files were made again.
    """

    unit: Unit
    files: list[str]
    trained: list[Unit]


def read_manifest(layout: Layout, unit: Unit) -> dict[str, Any] | None:
    """Return the manifest of a unit; None if there is none.

    Raises:
        InputError: it is damaged; the message says what to do.
    """
    path = _manifest_path(layout, unit)
    try:
        manifest = read_sealed(path)
        if not isinstance(manifest.get("parts"), dict):
            raise ValueError("it tells of no parts")
        return manifest
    except OSError:
        return None
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}); delete it and run again") from error


def unit_files(layout: Layout, unit: Unit, manifest: dict[str, Any]) -> list[str]:
    """Return the paths of all files of a finished unit, without its manifest."""
    folder = layout.folder(*unit)
    files = [f"{folder}/{name}" for name in layout.declaration(unit[0]).files(unit[1])]
    for name, record in manifest["parts"].items():
        parent = Path(folder, name).parent
        files += [f"{folder}/{name}.json", *(f"{parent}/{file}" for file in record["files"])]
    return list(dict.fromkeys(files))


def lost(layout: Layout) -> list[Lost]:
    """Return the finished units that lost files, in the order of the flow."""
    manifests = {
        unit: manifest for unit in layout.units() if (manifest := read_manifest(layout, unit))
    }
    found = []
    for unit, manifest in manifests.items():
        gone = [path for path in unit_files(layout, unit, manifest) if not Path(path).exists()]
        if gone:
            found.append(Lost(unit, gone, _trained_after(layout, unit, manifests)))
    return found


def _trained_after(layout: Layout, unit: Unit, finished: Iterable[Unit]) -> list[Unit]:
    """Return the finished units that train and depend on `unit`; itself too if it trains."""
    return [
        each
        for each in finished
        if layout.declaration(each[0]).trains(each[1]) and unit in layout.all_upstream([each])
    ]


def mend_times(layout: Layout) -> list[Unit]:
    """Give all files of each finished unit one time, no older than what the unit read.

    Copied and restored files have times in any order, so Snakemake would make them again. Only a
    unit whose manifest agrees with its records, and with the manifests that it read, gets new
    times: it was made from the files that are there.

    Returns:
        The units whose files have new times.
    """
    mended = []
    newest_of: dict[Unit, int] = {}
    for unit in layout.units():
        manifest = read_manifest(layout, unit)
        if manifest is None or not all(each in newest_of for each in layout.upstream(unit)):
            continue
        files = [*unit_files(layout, unit, manifest), str(_manifest_path(layout, unit))]
        if not all(Path(path).exists() for path in files):
            continue
        files += _benchmarks(layout, unit)
        times = {Path(path).stat().st_mtime_ns for path in files}
        newest = max(times | {newest_of[each] for each in layout.upstream(unit)})
        newest_of[unit] = newest
        if times == {newest} or not _agrees(layout, unit, manifest):
            continue
        with suppress(OSError):  # somebody else's files
            for path in files:
                os.utime(path, ns=(newest, newest))
            mended.append(unit)
    return mended


def _benchmarks(layout: Layout, unit: Unit) -> list[str]:
    """Return the benchmark files of a unit's jobs; their times count like those of outputs."""
    folder = Path(layout.config["results"], "benchmarks", *filter(None, unit))
    key = layout.key(*unit)
    return [str(path) for path in (*folder.glob(f"{key}.tsv"), *folder.glob(f"{key}/**/*.tsv"))]


def _agrees(layout: Layout, unit: Unit, manifest: dict[str, Any]) -> bool:
    """Return whether a manifest agrees with the unit's records and the manifests it read."""
    folder = layout.folder(*unit)
    names = layout.records(*unit)
    if set(manifest["parts"]) != set(names):
        return False
    try:
        records = {name: read_sealed(Path(folder, f"{name}.json")) for name in names}
        read = {
            f"{unit_name(*each)}/{layout.key(*each)}": _sha256(_manifest_path(layout, each))
            for each in layout.upstream(unit)
        }
    except (OSError, ValueError):
        return False
    return records == manifest["parts"] and read == manifest.get("upstream")


def _manifest_path(layout: Layout, unit: Unit) -> Path:
    return Path(layout.folder(*unit), "manifest.json")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
