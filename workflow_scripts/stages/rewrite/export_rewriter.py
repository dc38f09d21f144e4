"""Release a rewriter: a folder of its files with a model card, which any of our tools load.

paraloom rewriter export --run mine --rewriter plain --output FOLDER
"""

import shutil
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import (
    publish_folder,
    temporary_path,
    write_json,
    write_text,
)
from workflow_scripts.core.files.manifest import read_manifest, read_record, sha256, verify
from workflow_scripts.core.files.model_folder import SOCKEYE
from workflow_scripts.core.files.rewriter_card import CARD
from workflow_scripts.core.files.seal import SEAL, sealed
from workflow_scripts.core.report.rendering import environment
from workflow_scripts.core.version import version
from workflow_scripts.plan.run.run_folders import run_folder
from workflow_scripts.stages.catalogue import linked_layout
from workflow_scripts.stages.release.licences import licence_fields
from workflow_scripts.stages.rewrite import unit_kinds
from workflow_scripts.stages.rewrite.results import (
    CONTROL,
    CONTROL_SETTINGS,
    MEASURES,
    PARAPHRASES,
    REPAIR,
    read_about,
    read_control,
    read_measures,
    read_paraphrases,
    read_repair,
)
from workflow_scripts.stages.train.results import read_metrics

_TEMPLATES = Path(__file__).with_name("templates")
README, SUMS = "README.md", "SHA256SUMS"
_RECORD = "model.json"
_EXAMPLES = 10
# What rewriter.json tells that changes nothing in the model: the configuration may have changed it
# since the training.
_FACTS = ("continued", "licence", "inputs")


def front_matter(about: dict[str, Any], licence: str, kind: str) -> dict[str, Any]:
    """Return the card's metadata; `kind` is that of the model."""
    noise = about["noise"]
    does = ["paraphrase", "paraphrasing"]
    if noise and noise["identity"] == 1:  # it writes the sentence itself, without its damage
        does = ["grammatical-error-correction"]
    return {
        **licence_fields(licence),
        "language": [about["language"]],
        "pipeline_tag": "text-generation",
        "tags": [*does, *(tag for tag in ("sockeye", "marian") if tag in kind.lower()), "paraloom"],
    }


def card(
    about: dict[str, Any],
    metrics: dict[str, Any],
    measures: dict[str, Any],
    examples: list[dict[str, Any]],
    licence: str,
    repair: dict[str, Any] | None = None,
    control: dict[str, Any] | None = None,
) -> str:
    """Return the text of the model card.

    Args:
        about: `rewriter.json`.
        metrics: of its training.
        measures: by search.
        examples: held-out sentences with what was made of them.
        licence: of the model.
        repair: of damage, of a rewriter with noise.
        control: by templates, of a rewriter with them.
    """
    matter = front_matter(about, licence, metrics.get("kind", SOCKEYE))
    metadata = yaml.safe_dump(matter, sort_keys=False, allow_unicode=True)
    return (
        environment(_TEMPLATES)
        .get_template("card.md.j2")
        .render(
            front_matter=metadata,
            about=about,
            metrics=metrics,
            measures=measures,
            examples=examples,
            licence=licence,
            repair=repair,
            control=control,
            settings=CONTROL_SETTINGS,
            version=version(),
        )
    )


def unit_folder(run_folder: Path, instance: str) -> Path:
    """Return the finished folder of a unit of this stage in a run.

    Raises:
        InputError: there is none; the message names the rewriters that there are.
    """
    folder = run_folder / f"rewrite.{instance}"
    # Before it is made, a unit of the run is a link to nothing.
    if not (folder.is_dir() or folder.is_symlink()):
        names = sorted(path.name for path in run_folder.glob("rewrite.*"))
        known = [name.removeprefix("rewrite.") for name in names if "-" not in name]
        name = instance.partition("-")[0]
        if name in known:
            raise InputError(f"{folder} is not there; run the stage rewrite to its end first")
        has = f"it has {', '.join(known)}" if known else "it has none"
        raise InputError(f"{run_folder} has no rewriter {name}; {has}")
    if not (folder / "manifest.json").is_file():
        raise InputError(f"{folder} is not finished; run the stage rewrite to its end first")
    read_manifest(folder / "manifest.json")
    return folder


def facts_of_run(run_folder: Path, name: str) -> dict[str, Any]:
    """Return what the run's configuration tells of a rewriter, as it is now; see `_FACTS`.

    Raises:
        InputError: the configuration is missing, or of another version.
    """
    about = linked_layout(run_folder).settings(("rewrite", name))["about"]
    return {key: about[key] for key in _FACTS if key in about}


def _tell(folder: Path, about: dict[str, Any]) -> None:
    """Write `rewriter.json` into a copy of a model folder, and its hash into the record."""
    write_json(folder / CARD, about)
    record = read_record(folder / _RECORD)
    record.pop(SEAL, None)
    record["files"][CARD] = sha256(folder / CARD)
    write_json(folder / _RECORD, sealed(record))


def export(run_folder: Path, name: str, output: Path, licence: str | None = None) -> None:
    """Copy a rewriter into a new folder, with its measures, a model card, and SHA256SUMS.

    Args:
        run_folder: `runs/<name>`.
        name: of the rewriter.
        output: the folder, which appears whole.
        licence: of the model; None for that of its inputs, as far as it is stated.

    Raises:
        InputError: there is something at `output`, the rewriter is not finished, or a file of it
            is damaged.
    """
    if output.exists() or output.is_symlink():
        raise InputError(f"{output} is there already; remove it, or name another folder")
    folder = unit_folder(run_folder, name)
    if read_about(folder).get("training_sets") == []:
        raise InputError(
            f"{folder}: a finished model that was not measured has no card; name training sets in "
            f"rewriters.{name}.training_sets, and run again"
        )
    measured = unit_folder(run_folder, f"{name}{unit_kinds.MEASURES}")
    files = [folder / file for file in verify(folder / _RECORD)["files"]]
    about, measures = read_about(folder) | facts_of_run(run_folder, name), read_measures(measured)
    about["licence"] = licence or about["licence"]
    examples = list(islice(read_paraphrases(measured), _EXAMPLES))
    repair = None
    if about["noise"] is not None:
        repaired = unit_folder(run_folder, f"{name}{unit_kinds.REPAIR}")
        repair = read_repair(repaired)
        files.append(repaired / REPAIR)
    control = None
    if "templates" in about:
        if "examples" not in about["templates"]:
            raise InputError(
                f"{folder} was made by an earlier version, which counted other pairs; run the "
                "stage rewrite again: it makes the pairs with templates and all that follows anew"
            )
        controlled = unit_folder(run_folder, f"{name}{unit_kinds.CONTROL}")
        control = read_control(controlled)
        files.append(controlled / CONTROL)
    text = card(
        about,
        read_metrics(folder / "metrics.json"),
        measures,
        examples,
        about["licence"],
        repair,
        control,
    )
    files += [folder / _RECORD, measured / MEASURES, measured / PARAPHRASES]
    _write_folder(output, files, about, text)


def _write_folder(output: Path, files: list[Path], about: dict[str, Any], text: str) -> None:
    """Write the released folder, which appears whole: copies of files, what is told, the card."""
    output.parent.mkdir(parents=True, exist_ok=True)
    unfinished = temporary_path(output)
    unfinished.mkdir()
    try:
        for file in files:
            shutil.copyfile(file, unfinished / file.name)
        _tell(unfinished, about)
        write_text(unfinished / README, text)
        names = sorted(path.name for path in unfinished.iterdir())
        sums = "".join(f"{sha256(unfinished / name)}  {name}\n" for name in names)
        write_text(unfinished / SUMS, sums)
        verify(unfinished / _RECORD)
        publish_folder(unfinished, output)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def main(argv: list[str] | None = None) -> None:
    """Release a rewriter of a run as a folder with a model card."""
    parser = CommandParser(description=main.__doc__)
    parser.add_argument("--run", type=Path, required=True, help="name or folder of a run")
    parser.add_argument("--rewriter", required=True, metavar="NAME")
    parser.add_argument("--licence", help="of the model; otherwise that of its inputs")
    parser.add_argument("--output", type=Path, required=True, help="a new folder")
    arguments = parser.parse_args(argv)
    run_of = run_folder(arguments.run)
    export(run_of, arguments.rewriter, arguments.output, arguments.licence)
    print(f"{arguments.output}: the rewriter {arguments.rewriter}, described in {README}")


if __name__ == "__main__":
    run(main)
