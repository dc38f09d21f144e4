"""Checks of `rewriters` that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.rewriter_card import CARD, read_prefix
from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues.model_blocks import chosen, finished
from workflow_scripts.plan.catalogues.rewriters import (
    finished_rewriter,
    kinds_of,
    noise,
    rewriter,
    rewriter_training_sets,
    rewriters,
)
from workflow_scripts.plan.catalogues.training_sets import known_entries, problems_of_entries
from workflow_scripts.plan.config import Config, unknown_names
from workflow_scripts.plan.schema import filled


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with the rewriters that the run names."""
    catalogue = config.get("rewriters", {})
    yield from unknown_names(
        "run.rewriters", rewriters(config), "rewriters", {"rewriters": catalogue}
    )
    for name in rewriters(config):
        if name in catalogue:
            yield from _rewriter_problems(name, config)


def _rewriter_problems(name: str, config: Config) -> Iterator[str]:
    where, block = f"rewriters.{name}", rewriter(config, name)
    yield from problems_of_entries(where, block, config)
    every_system = known_entries(block, config) and not block["systems"]
    if every_system and not rewriter_training_sets(config, name):
        yield f"{where}.systems: a rewriter writes all systems of its training sets"
    if finished_rewriter(config, name):
        yield from _finished_problems(where, config["rewriters"][name], config)
        return
    if "training_sets" not in config["rewriters"][name]:
        yield f"{where}: it has no training_sets; only a finished model does without"
    if "prefix" in block:
        yield f"{where}.prefix: only a finished model has one; take it out"
    yield from _template_problems(where, name, config)
    yield from _model_problems(where, name, config)
    yield from _noise_problems(f"{where}.noise", name, config)


def _finished_problems(where: str, block: dict[str, Any], config: Config) -> Iterator[str]:
    for key in ("continued", "subword", "vocab_size", "samples", "templates", "noise"):
        if block.get(key) is not None:
            yield f"{where}.{key}: the model '{block['model']}' is finished; take it out"
    for key in ("held_out", "write", "systems"):
        if key in block and "training_sets" not in block:
            yield f"{where}.{key}: it goes with training_sets, which measure a finished model"
    folder = config["models"][block["model"]].get("folder")
    if folder is None or "prefix" in block:
        return
    try:
        prefix = read_prefix(Path(folder))
    except InputError as error:
        yield f"{where}.model: {error}"
        return
    # The run's folder has a card of its own.
    if prefix:
        yield f"{where}.prefix: {folder}/{CARD} says {prefix!r}; say it here, or '' for none"


def _noise_problems(where: str, name: str, config: Config) -> Iterator[str]:
    settings = noise(config, name)
    if settings is None:
        return
    language = config["languages"]["reference"]["code"]
    if english := [kind for kind in settings["weights"] if kind not in kinds_of(language)]:
        yield (
            f"{where}.weights: {', '.join(english)}: their rules are English, and the references "
            f"are '{language}'; give them no weight"
        )
    if not settings["weights"]:
        yield f"{where}.weights: no kind has a weight above 0; give one, or leave weights out"


def _template_problems(where: str, name: str, config: Config) -> Iterator[str]:
    block = rewriter(config, name)
    if block["templates"] is None:
        return
    if not selection.parsed(config):
        yield (
            f"{where}.templates: templates are cut from trees, and no parser is configured; set "
            "evaluate.syntax (docs/evaluate.md), or take the key out"
        )
    if block.get("samples") and block["continued"] is None:
        yield (
            f"{where}.samples: sampled segmentations cut the symbols of templates into pieces; "
            "take samples or templates out"
        )
    if block.get("noise"):
        yield (
            f"{where}.templates: texts that are damaged have no trees to cut templates from; take "
            "templates or noise out"
        )


def _model_problems(where: str, name: str, config: Config) -> Iterator[str]:
    block = rewriter(config, name)
    if block["continued"] is not None:
        yield from _continued_problems(where, block, config)
        return
    if "model" not in block:
        yield f"{where}: it has neither model nor continued; say what is trained"
        return
    yield from unknown_names(f"{where}.model", [block["model"]], "models", config)
    kind = config["subword"]["model_type"]
    if block.get("samples") and kind != "unigram":
        yield f"{where}.samples: {kind} models have one segmentation only; set samples: 0"
    if block["subword"] == "own":
        return
    if "vocab_size" in block:
        yield f"{where}.vocab_size: only an own vocabulary has it; take it out, or say subword: own"
    role = block["subword"]
    if role not in selection.roles(config):
        yield f"{where}.subword: the run has no {role} model; say subword: own"
    elif finished(selection.role_model(config, role)):
        yield (
            f"{where}.subword: the {role} model is a finished one, whose vocabulary is no "
            "SentencePiece model of the references alone; say subword: own"
        )


def _continued_problems(where: str, block: dict[str, Any], config: Config) -> Iterator[str]:
    for key in ("model", "vocab_size", "samples"):
        if key in block:
            yield f"{where}.{key}: with continued, the other model says it; take it out"
    role = block["continued"]["from"]
    if block["subword"] == "backward":
        yield f"{where}.subword: with continued it is '{role}'; take it out"
    if role not in selection.roles(config):
        yield f"{where}.continued.from: the run has no {role} model; give it a model"
    elif keys := chosen(selection.role_model(config, role)):
        yield (
            f"{where}.continued.from: the {role} model has {' and '.join(keys)}, as it knows "
            "several languages; take a model of a single pair"
        )
    warmup, updates = (
        filled(block["continued"], "continued")[key] for key in ("warmup", "max_updates")
    )
    if warmup >= updates:
        yield f"{where}.continued.warmup is {warmup}, and max_updates {updates}; lower it"
