"""Every file of a run against the hash in its record (docs/runs.md, "Is it whole?")."""

from collections.abc import Iterator
from pathlib import Path

from workflow_scripts.commands.status.units import record_paths
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import verify_hash
from workflow_scripts.core.files.seal import read_sealed
from workflow_scripts.core.progress import progress
from workflow_scripts.plan.finished import manifest_path
from workflow_scripts.plan.run.linked_layout import LinkedLayout
from workflow_scripts.plan.run.run_folders import link_name

_TRAINS = " (this trains once more; a copy of the file that is put back does not)"


def verify_run(layout: LinkedLayout) -> dict[str, list[str]]:
    """Read all files that the records of a run name, and compare their hashes.

    Lost files of finished units are left to `finished.gone`, and damaged records to `unit_status`.
    Progress goes to stderr.

    Returns:
        by the name of a unit, which of its files are not what its stage wrote, and what to do.
    """
    named = [
        (unit, layout.root / record)
        for unit in layout.units()
        for record in record_paths(layout, unit)
    ]
    damaged: dict[str, list[str]] = {}
    for (stage, instance), record in progress(named, len(named), "verify records"):
        trains = layout.declaration(stage).trains(instance)
        finished = (layout.root / manifest_path(layout, (stage, instance))).is_file()
        for path, expected in _files(record):
            if finished and not path.is_file():
                continue
            try:
                verify_hash(path, expected, record)
            except InputError as error:
                message = str(error).removeprefix(f"{layout.root}/")  # as in the rules
                message += _TRAINS if trains else ""
                damaged.setdefault(link_name(stage, instance), []).append(message)
    return damaged


def _files(record: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files of a record with their hashes; none if it is not there, or damaged."""
    try:
        files = read_sealed(record).get("files", {})
    except (OSError, ValueError):
        return
    for name, expected in files.items():
        yield record.parent / name, expected
