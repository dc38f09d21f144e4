"""Which encoders a run trains: the entries of `encoders` (docs/encoder.md).

The Snakefile imports this module: only the standard library.
"""

from typing import Any

from workflow_scripts.plan.catalogues.embeddings import trained
from workflow_scripts.plan.catalogues.training_sets import encoder_system, model_columns
from workflow_scripts.plan.schema import filled


def encoders(config: dict[str, Any]) -> list[str]:
    """Return the encoders that the run names, and those behind its columns."""
    behind = [config["columns"][name].get("encoder") for name in model_columns(config)]
    named = config["run"].get("encoders", [])  # configurations of earlier runs lack the key
    return list(dict.fromkeys([*named, *(entry["name"] for entry in behind if entry)]))


def encoder(config: dict[str, Any], name: str) -> dict[str, Any]:
    """Return an encoder's block with its defaults and its seed, blocks inside it too.

    `scratch` is None, or has its `training` with all keys.
    """
    block = {"seed": config["seed"]} | filled(config["encoders"][name], "encoder_entry")
    block["negatives"] = filled(block["negatives"], "encoder_negatives")
    block["training"] = filled(block["training"], "encoder_training")
    if block["scratch"] is not None:
        scratch = filled(block["scratch"], "encoder_scratch")
        scratch["training"] = filled(scratch["training"], "scratch_training")
        block["scratch"] = scratch
    return block


def encoder_training_set(config: dict[str, Any], name: str) -> str:
    """Return the training set that an encoder learns from, `<entry>-<system>`."""
    return f"{config['encoders'][name]['training_set']}-{encoder_system(name, config)}"


def encoder_embedding(config: dict[str, Any], name: str) -> dict[str, dict[str, Any]]:
    """Return the embedding that finds an encoder's negatives, as `embeddings.embeddings` does.

    Its seed is the first seed of its entry.
    """
    named = config["encoders"][name]["embedding"]
    training_set = f"{named['training_set']}-{encoder_system(name, config)}"
    return trained(named["name"], training_set, config)
