"""Checks of `train` and `models` that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.model_folder import model_files
from workflow_scripts.core.files.model_notes import forbids_commerce, read_notes
from workflow_scripts.core.text.language_codes import differ
from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues.model_blocks import UNKNOWN, finished
from workflow_scripts.plan.catalogues.rewriters import named_by, rewriter_models
from workflow_scripts.plan.config import Config, unknown_names
from workflow_scripts.stages.train import model_checks


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with the corpora of training, and with the models of the run's roles."""
    roles = selection.model_roles(config)
    for role in roles:
        name = selection.role_model_name(config, role)
        yield from unknown_names(f"train.models.{role}", [name], "models", config)
        for problem in (
            model_checks.problems(config["models"][name]) if name in config["models"] else ()
        ):
            yield f"models.{name}: {problem}"
        seen = config["models"].get(name, {}).get("trained_on", UNKNOWN)
        if seen != UNKNOWN:
            yield from unknown_names(f"models.{name}.trained_on", seen, "corpora", config)
    if any(selection.role_model_name(config, role) not in config["models"] for role in roles):
        return
    yield from _hub_problems(config)
    yield from _language_problems(config)
    yield from _corpus_problems(config)


def notes(config: Config) -> Iterator[str]:
    """Yield the finished models of the run whose licence forbids commercial use."""
    for name, block in selection.used(config)["models"].items():
        licence = block.get("licence") or _licence_beside(config, block)
        if forbids_commerce(licence):
            yield (
                f"models.{name}: its licence ({licence}) forbids commercial use, which may bind "
                "what the model writes as well"
            )


def hub_folder(config: Config, block: dict[str, Any]) -> Path:
    """Return where the files of a commit of the hub are kept."""
    return Path(config["downloads"], "hub", block["hub"].replace("/", "--"), str(block["revision"]))


def _licence_beside(config: Config, block: dict[str, Any]) -> str | None:
    """Return what the files of a model that is here say of its licence; None if nothing."""
    if "folder" in block:
        folder = Path(block["folder"])
    elif block.get("revision") is not None:
        folder = hub_folder(config, block) / block.get("path", ".")
    else:
        return None
    try:
        return read_notes(folder, model_files(folder)).licence
    except InputError:  # the job tells it
        return None


def _hub_problems(config: Config) -> Iterator[str]:
    """Yield models of one commit of the hub in two folders: one folder of a commit is kept."""
    places: dict[tuple[str, str], str] = {}
    for role in selection.model_roles(config):
        name, block = selection.role_model_name(config, role), selection.role_model(config, role)
        if "hub" in block and block.get("revision") is not None:
            first = places.setdefault((block["hub"], block["revision"]), name)
            if config["models"][first].get("path") != block.get("path"):
                yield (
                    f"models.{name}: models.{first} is of the same commit of {block['hub']}, and "
                    "the folder of one of them alone can be downloaded; download the other's files "
                    "yourself, and name their folder as folder"
                )


def _language_problems(config: Config) -> Iterator[str]:
    """Yield chosen languages of models that are not those of their roles."""
    for role in selection.model_roles(config):
        block = selection.role_model(config, role)
        if not finished(block) or "source" not in block:
            continue
        sides = ["source", "reference"]
        if role in rewriter_models(config):
            sides = ["reference", "reference"]
        elif role.removeprefix("filter_") == "backward":
            sides.reverse()
        codes = [config["languages"][side]["code"] for side in sides]
        chosen = [block["source"], block["target"]]
        other = "correct one of them"
        if sides[0] != sides[1] and not any(map(differ, chosen, codes[::-1])):
            other = f"exchange the models of the two directions ({named_by(role)})"
        for key, side, code in zip(("source", "target"), sides, codes, strict=True):
            if differ(block[key], code):
                yield (
                    f"models.{selection.role_model_name(config, role)}.{key}: '{block[key]}', but "
                    f"languages.{side}.code, which the {role} model "
                    f"{'reads' if key == 'source' else 'writes'}, is '{code}'; {other}"
                )


def _corpus_problems(config: Config) -> Iterator[str]:
    run, train = config["run"], config["train"]
    trained = [role for role in selection.roles(config) if not selection.taken_over(config, role)]
    test = [] if train["test"] is None else [train["test"]]
    yield from unknown_names("train.test", test, "corpora", config)
    if not trained:  # the other keys have no use
        return
    without = [role for role in trained if selection.dev_corpus(config, role) is None]
    if without:
        yield f"train.dev: null, but {', '.join(without)} can't be trained without a corpus for it"
    if train["dev"] is not None:
        yield from unknown_names("train.dev", [train["dev"]], "corpora", config)
    for name in train["corpora"] or []:
        if name not in run["corpora"]:
            yield f"train.corpora: '{name}' is not among run.corpora"
    for name in selection.measured_corpora(config):
        if name in selection.training_corpora(config):
            yield f"train: '{name}' can't be trained on and measured on; take it out of one"
    if train["dev"] is not None and train["dev"] == train["test"]:
        yield f"train: dev and test are both '{train['dev']}'; a corpus can only be one of them"
