"""The translation models that a name or a folder stands for, ready to work.

Names are those of `models.<name>` in the workflow: of config.yaml and of recipes/models.
"""

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from paraloom.place import WORKFLOW
from paraloom.requests import device_for, require_path
from paraloom.threads import one_torch_thread
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.core.files.model_folder import SETTINGS, model_files
from workflow_scripts.core.files.model_notes import read_notes
from workflow_scripts.core.files.yaml_text import parse_yaml
from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.memory import bound_compiled_products
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.pieces import TextCoder
from workflow_scripts.nmt.raw import coders
from workflow_scripts.plan.catalogues.model_blocks import chosen, finished
from workflow_scripts.stages.train.gather import check_hashes, place

UNKNOWN = "unknown"
# Of oneDNN, in a process that lives long: so memory is level after two hundred texts, and with
# batches of like size no slower.
COMPILED_PRODUCTS = 64
# The models of a language if none are named: those that `make setup` installs, there and back.
DEFAULTS = {
    "en": ("student_en_pt", "student_pt_en"),
    "pt": ("student_pt_en", "student_en_pt"),
}


@cache
def our_system() -> dict[str, Any]:
    """Return the block of the system `paraloom`, whose settings a Paraphraser has."""
    path = WORKFLOW / "config.yaml"
    systems = parse_yaml(path.read_text(encoding="utf-8"), str(path))["systems"]
    block: dict[str, Any] = systems["paraloom"]
    return block


@dataclass(frozen=True)
class Loaded:
    """A model that is ready to work.

    `name`: as it was asked for; `licence`: of its weights, `unknown` where nobody says it;
    `languages`: the codes of what it reads and writes, as far as its files tell them; `source`,
    `target`: the coders of the raw text of both.
    """

    name: str
    licence: str
    languages: tuple[str | None, str | None]
    model: Model
    source: TextCoder
    target: TextCoder


def default_models(language: str) -> tuple[str, str]:
    """Return the names of the models there and back of a language.

    Raises:
        InputError: none come with the set-up.
    """
    if language not in DEFAULTS:
        raise InputError(
            f"no models for the language '{language}' come with Paraloom, only for "
            f"{' and '.join(DEFAULTS)}: name a model that translates from it, and one back "
            "(there=, back=): folders, or names as in recipes/models (docs/library.md)"
        )
    return DEFAULTS[language]


@one_torch_thread()
def load(name: str | Path, device: str | None, precision: str) -> Loaded:
    """Return the model of a name or a folder.

    Args:
        name: of the catalogue; or a folder of a model, such as runs/NAME/train.forward.
        device: `auto`, `cpu` or `cuda`; None: a CPU for int8, else `auto`.
        precision: `int8` (CPUs only), `bf16` or `fp32`.

    Raises:
        InputError: there is no such model, or it can't be read; the message says how to get it.
    """
    require_path("model", name)
    if isinstance(name, Path) or Path(name).is_dir() or os.sep in name:
        folder, block = Path(name), {}
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder; name that of a translation model")
        if (folder / "model.json").is_file():
            verify(folder / "model")
    else:
        block = _block(name)
        folder = place(name, block)
        check_hashes(name, block, folder)
    files = model_files(folder)
    bound_compiled_products(COMPILED_PRODUCTS)
    model = load_model(
        folder,
        device_for(device, precision),
        precision,
        shortlist=block.get("shortlist", files.shortlist is not None),
    )
    notes = read_notes(folder, files)
    licence = block.get("licence") or notes.licence or UNKNOWN
    source, target = coders(model, folder, True, None, None)
    return Loaded(str(name), licence, (notes.source, notes.target), model, source, target)


@cache
def catalogue() -> dict[str, dict[str, Any]]:
    """Return the blocks of all finished models that have a name."""
    blocks: dict[str, dict[str, Any]] = {}
    for path in (WORKFLOW / "config.yaml", *sorted(WORKFLOW.glob("recipes/models/*.yaml"))):
        if path.is_file():
            blocks |= parse_yaml(path.read_text(encoding="utf-8"), str(path)).get("models", {})
    return {name: block for name, block in blocks.items() if finished(block)}


def _block(name: str) -> dict[str, Any]:
    """Return the block of a name whose files are here.

    Raises:
        InputError: there is no such name, or its files must be fetched first.
    """
    known = catalogue()
    if name not in known:
        raise InputError(
            f"'{name}' is no folder, and no model of this name is known"
            f"{suggestion(name, list(known))}"
        )
    block = known[name]
    if "url" in block:
        urls = block["url"] if isinstance(block["url"], list) else [block["url"]]
        raise InputError(
            f"'{name}' must be downloaded, which the library does not do. Get {', '.join(urls)}, "
            "unpack them into one folder, and name that; or name the model's folder in a run "
            "that has it (runs/NAME/train.forward)"
        )
    if "hub" in block:
        languages = json.dumps(chosen(block))
        written = f", write the file {SETTINGS} there ({languages})" if chosen(block) else ""
        raise InputError(
            f"'{name}' must be downloaded, which the library does not do. Get all files of "
            f"{block['hub']} from the Hugging Face hub into one folder{written}, and name that; or "
            "name the model's folder in a run that has it (runs/NAME/train.forward)"
        )
    return block
