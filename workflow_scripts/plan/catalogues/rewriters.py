"""Which rewriters a run trains: the entries of `rewriters` (docs/rewrite.md).

The Snakefile imports this module: only the standard library.
"""

from typing import Any

from workflow_scripts.core.text.language_codes import short
from workflow_scripts.plan.catalogues.model_blocks import finished
from workflow_scripts.plan.catalogues.training_sets import sources
from workflow_scripts.plan.catalogues.written_sources import main_role
from workflow_scripts.plan.schema import filled

# Kinds of damage: errors of typing, those of any language, and those whose rules are English ones.
TYPING = ("neighbour", "swap", "omit", "repeat")
ENGLISH = ("drop", "verb", "determiner")
KINDS = (*TYPING, "double", "case", *ENGLISH)

# The splits of a rewriter's pairs: they stand where a pair of the bitext has its corpus.
TRAIN, DEV, TEST = "train", "dev", "test"


def rewriters(config: dict[str, Any]) -> list[str]:
    """Return the rewriters that the run names."""
    return config["run"].get("rewriters", [])  # configurations of earlier runs lack the key


def rewriter(config: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a rewriter's block with its defaults and its seed."""
    return {"seed": config["seed"]} | filled(config["rewriters"][name], "rewriter")


def finished_rewriter(config: dict[str, Any], name: str) -> bool:
    """Tell whether a rewriter is a finished model, which learns nothing from its training sets."""
    block = config["rewriters"][name]
    return finished(config["models"].get(block.get("model"), {}))


def rewriter_role(name: str) -> str:
    """Return what the model of a rewriter is called among the roles of other models."""
    return f"rewriter_{name}"


def named_by(role: str) -> str:
    """Return the key of the configuration that names the model of a role."""
    start = rewriter_role("")
    of_rewriter = f"rewriters.{role.removeprefix(start)}.model"
    return of_rewriter if role.startswith(start) else f"train.models.{main_role(role)}"


def rewriter_models(config: dict[str, Any]) -> dict[str, str]:
    """Return the entry of `models` of each rewriter that is a finished model, by its role."""
    known = config.get("rewriters", {})
    names = [name for name in rewriters(config) if name in known]
    return {
        rewriter_role(name): known[name]["model"]
        for name in names
        if finished_rewriter(config, name)
    }


def kinds_of(language: str) -> tuple[str, ...]:
    """Return the kinds of damage that there are for a language, by its code."""
    return tuple(kind for kind in KINDS if short(language) == "en" or kind not in ENGLISH)


def noise(config: dict[str, Any], name: str) -> dict[str, Any] | None:
    """Return the noise of a rewriter with all its keys; None: what it reads is not damaged.

    `weights` has the kinds that are drawn.
    """
    block = rewriter(config, name)["noise"]
    if block is None:
        return None
    language = config["languages"]["reference"]["code"]
    weights = block.get("weights", dict.fromkeys(kinds_of(language), 1))
    named = {kind: float(weights[kind]) for kind in KINDS if weights.get(kind)}
    return {**filled(block, "rewriter_noise"), "weights": named}


def written_by_rewriter(config: dict[str, Any], system: str) -> bool:
    """Tell whether a rewriter writes the candidates of a system, or of a corpus from outside."""
    return config["systems"].get(system, {}).get("rewriter") is not None


def rewriter_of(config: dict[str, Any], system: str) -> dict[str, Any] | None:
    """Return the rewriter that a system reads, `name` and `references`; None: it has none."""
    if not written_by_rewriter(config, system):
        return None
    return filled(config["systems"][system]["rewriter"], "system_rewriter")


def rewriter_training_sets(config: dict[str, Any], name: str) -> list[str]:
    """Return the training sets that a rewriter learns from, `<entry>-<system>`."""
    block = rewriter(config, name)
    names = []
    for entry in block["training_sets"]:
        for system in sources(config["training_sets"][entry], config):
            wanted = block["systems"]
            if system in wanted if wanted else not written_by_rewriter(config, system):
                names.append(f"{entry}-{system}")
    return names


def continued(config: dict[str, Any], name: str) -> dict[str, Any] | None:
    """Return the block `continued` of a rewriter with its defaults; None if it has none."""
    block = rewriter(config, name)["continued"]
    return None if block is None else filled(block, "continued")


def sources_behind(config: dict[str, Any], name: str) -> list[str]:
    """Return the system, or corpus from outside, of each training set that a rewriter learns from.

    A name is there as often as there are sets of it.
    """
    sets = rewriter_training_sets(config, name)
    return [training_set.partition("-")[2] for training_set in sets]


def systems_behind(config: dict[str, Any], name: str) -> list[str]:
    """Return the run's systems whose pairs a rewriter learns from."""
    systems = dict.fromkeys(sources_behind(config, name))
    return [system for system in systems if system in config["run"]["systems"]]


def model_of(config: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the block of `models` that a rewriter trains, or goes on from."""
    return config["models"][model_name(config, name)]


def model_name(config: dict[str, Any], name: str) -> str:
    """Return the entry of `models` that a rewriter trains, or goes on from."""
    block = rewriter(config, name)
    if block["continued"] is not None:
        return config["train"]["models"][block["continued"]["from"]]
    return block["model"]


def reference_id(row_id: str) -> str:
    """Return the id of the reference that a row of a rewriter's pairs was made of."""
    return row_id.rpartition("-")[0]
