"""The other runs that a system merges, as its declaration needs them (docs/systems.md).

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.seal import read_sealed
from workflow_scripts.plan.catalogues.merges import merging
from workflow_scripts.plan.catalogues.written_sources import further, mark, written_corpora
from workflow_scripts.plan.config import Config
from workflow_scripts.plan.run.run_folders import link_name, read_config, run_folder
from workflow_scripts.plan.selection import stated_licence

# The vocabulary of a merge, with its record: what a folder of a model has of it.
PIECES = "reference.model"
PIECES_RECORD = "model"
_MANIFEST = "manifest.json"


class SelectedRun(NamedTuple):
    """What one system of another run has selected.

    `name` stands for it in tags; `folder` holds its shards, `pieces` the vocabulary of its
    forward model; `unit` is stage, instance, version and digest of what was selected; `written`
    says of its corpora with written sources who wrote them, `sources` what the system had besides.
    """

    name: str
    folder: Path
    pieces: Path
    unit: str
    shards: int
    source: str
    licence: str | None
    written: dict[str, str]
    sources: dict[str, Any]

    @property
    def manifest(self) -> str:
        """The manifest of what was selected."""
        return str(self.folder / _MANIFEST)


def selected_runs(config: Config, system: str, version: int) -> list[SelectedRun]:
    """Return the other runs that a system merges, in its order.

    Args:
        config: of the run.
        system: of the run.
        version: of the stage `select`, in which the other runs must have been made.

    Raises:
        InputError: a run is not there, not finished, of another version or of another language of
            references, or it merges runs itself.
    """
    block = config["systems"][system]["merge"]
    return [
        _selected(f"systems.{system}.merge.{name}", name, merged, config, version)
        for name, merged in block.items()
    ]


def _selected(
    where: str, name: str, block: dict[str, str], config: Config, version: int
) -> SelectedRun:
    run, system = run_folder(Path(block["run"])), block["system"]
    other = read_config(run)
    systems = other["run"]["systems"]
    if system not in systems:
        raise InputError(f"{where}.system: {run} has no {system}, but {', '.join(systems)}")
    if merging(other):
        raise InputError(f"{where}.run: {run} merges runs itself; name those runs here")
    wanted, code = (settings["languages"]["reference"]["code"] for settings in (config, other))
    if wanted != code:
        raise InputError(
            f"{where}.run: the paraphrases of {run} are '{code}', and languages.reference.code is "
            f"'{wanted}'; merge runs of one language"
        )
    folder = (run / link_name("select", system)).resolve()
    manifest = _manifest(where, run, system, folder, version)
    return SelectedRun(
        name,
        folder,
        (run / link_name("train", "forward")).resolve(),
        manifest["name"],
        sum(part.isdigit() for part in manifest["parts"]),
        other["languages"]["source"]["code"],
        stated_licence(other),
        {name: mark(other) for name in written_corpora(other)},
        further(other, system),
    )


def _manifest(where: str, run: Path, system: str, folder: Path, version: int) -> dict[str, Any]:
    try:
        manifest = read_sealed(folder / _MANIFEST)
    except FileNotFoundError as error:
        raise InputError(
            f"{where}: {run} has not selected the paraphrases of {system} yet; finish that run "
            "first, with its own configuration"
        ) from error
    except (OSError, ValueError) as error:
        raise InputError(
            f"{where}: {folder / _MANIFEST} is damaged ({error}); delete it and start {run} again"
        ) from error
    if manifest.get("version") != version:
        raise InputError(
            f"{where}: {run} was made by another version of Paraloom (select v"
            f"{manifest.get('version')}, and this one writes v{version}); start it again"
        )
    return manifest
