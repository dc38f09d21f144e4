"""Which embeddings a run trains: the entries of `embeddings`, by training set.

The Snakefile imports this module: only the standard library.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from workflow_scripts.plan.schema import filled


def embeddings(config: dict[str, Any], training_sets: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the embeddings of a run by their names, each with all its settings.

    The name is `<entry>-<training set>-seed<seed>`. The settings are entry, training_set, model,
    training and repetition, the embedding's own seed.
    """
    by_name: dict[str, dict[str, Any]] = {}
    for entry in config["run"]["embeddings"]:
        block = filled(config["embeddings"][entry], "embedding")
        for training_set in _chosen(block["training_sets"], training_sets):
            for seed in block["seeds"]:
                by_name |= _trained(entry, training_set, seed, config)
    return by_name


def column_embedding(column: str, system: str, config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the embedding that computes a column of a system, in the form of `embeddings`.

    Its seed is the first seed of its entry.
    """
    named = config["columns"][column]["embedding"]
    return trained(named["name"], f"{named['training_set']}-{system}", config)


def trained(entry: str, training_set: str, config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the embedding of an entry on a training set, by its name, with its first seed."""
    seed = filled(config["embeddings"][entry], "embedding")["seeds"][0]
    return _trained(entry, training_set, seed, config)


def _trained(
    entry: str, training_set: str, seed: int, config: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    block = filled(config["embeddings"][entry], "embedding")
    settings = {
        "entry": entry,
        "training_set": training_set,
        "model": model_of(block),
        "training": filled(block["training"], "embedding_training"),
        "repetition": seed,
    }
    return {f"{entry}-{training_set}-seed{seed}": settings}


def model_of(block: dict[str, Any]) -> dict[str, Any]:
    """Return the model of an entry; keys that it leaves out have their defaults."""
    return filled(filled(block, "embedding")["model"], "embedding_model")


def _chosen(entries: list[str] | None, training_sets: Iterable[str]) -> Iterator[str]:
    for training_set in training_sets:
        if entries is None or training_set.partition("-")[0] in entries:
            yield training_set
