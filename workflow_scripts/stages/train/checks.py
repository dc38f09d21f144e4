"""Checks of `train` and `models` that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.model_folder import model_files
from workflow_scripts.core.files.model_notes import forbids_commerce, read_notes
from workflow_scripts.core.text.language_codes import LISTED, differ, named, nearest
from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues.model_blocks import UNKNOWN, finished
from workflow_scripts.plan.catalogues.rewriters import named_by, rewriter_models
from workflow_scripts.plan.config import Config, unknown_names
from workflow_scripts.stages.train import model_checks

# Where the codes of languages stand, and what they look like, but for those that are chosen there.
_OF_PIECES = (
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.json", "shared_vocabulary.json"),
)
_CODES = re.compile(
    r'"(?<!_lang": ")(__[a-z]{2,3}__|[a-z]{2,3}_[A-Z]{2}|[a-z]{3}_[A-Z][a-z]{3})(?=")'
)


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


def _place(config: Config, block: dict[str, Any]) -> Path | None:
    """Return the folder of a model whose files may be here; None if it is of another place."""
    if "folder" in block:
        return Path(block["folder"])
    if block.get("revision") is None:
        return None
    return hub_folder(config, block) / block.get("path", ".")


def _licence_beside(config: Config, block: dict[str, Any]) -> str | None:
    """Return what the files of a model that is here say of its licence; None if nothing."""
    folder = _place(config, block)
    try:
        return None if folder is None else read_notes(folder, model_files(folder)).licence
    except InputError:  # the job tells it
        return None


def _known_codes(folder: Path | None) -> list[str]:
    """Return the codes of languages that the JSON files of a model's pieces have."""
    found: set[str] = set()
    for path in map(folder.joinpath, _OF_PIECES) if folder else ():
        content = path.read_text(encoding="utf-8", errors="ignore") if path.is_file() else ""
        found.update(_CODES.findall(content))
        for listed in re.findall(r'"language_codes"\s*:\s*"(\w+)"', content):
            found.update(f"__{code}__" for code in LISTED.get(listed, "").split())
    return sorted(found)


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
    """Yield chosen languages that a model does not have, or that are not those of its role."""
    for role in selection.model_roles(config):
        name, block = selection.role_model_name(config, role), selection.role_model(config, role)
        if not finished(block) or "source" not in block:
            continue
        known = _known_codes(_place(config, block))
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
            if known and not named(block[key], known):
                yield (
                    f"models.{name}.{key}: '{block[key]}' is no language of the model; the nearest "
                    f"of its {len(known)} are {', '.join(nearest(block[key], known))}"
                )
            elif differ(block[key], code):
                yield (
                    f"models.{name}.{key}: '{block[key]}', but "
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
