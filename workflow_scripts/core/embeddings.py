"""Which embeddings a run trains: the entries of `embeddings`, by training set.

The Snakefile imports this module: only the standard library.
"""

from collections.abc import Iterable, Iterator
from typing import Any

# What an entry does not say.
MODEL = {
    "encoders": ["word"],
    "combine": "concatenate",
    "dimension": 300,
    "hidden": 300,
    "tokens": "words",
    "vocabulary": 200_000,
    "min_count": 1,
    "vectors": None,
}
TRAINING = {
    "epochs": 10,
    "batch": 100,
    "mega_batch": 40,
    "anneal": 150,
    "margin": 0.4,
    "learning_rate": 0.001,
    "scramble": 0.3,
    "dropout": 0.0,
    "l2_network": 0.0,
    "l2_vectors": 0.0,
    "development": None,
}
SEEDS = [1]


def embeddings(config: dict[str, Any], training_sets: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the embeddings of a run by their names, each with all its settings.

    The name is `<entry>-<training set>-seed<seed>`. The settings are entry, training_set, model,
    training and repetition, the embedding's own seed.

    Args:
        config: of the run.
        training_sets: the names of its training sets, `<entry>-<system>...`.
    """
    found = {}
    for entry in config["run"]["embeddings"]:
        block = config["embeddings"][entry]
        for training_set in _chosen(block, training_sets):
            for seed in block.get("seeds", SEEDS):
                found |= _trained(entry, training_set, seed, config)
    return found


def column_embedding(column: str, system: str, config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the one embedding behind a column of a system, as `embeddings` does.

    It has the first of its entry's seeds.
    """
    named = config["columns"][column]["embedding"]
    seed = config["embeddings"][named["name"]].get("seeds", SEEDS)[0]
    return _trained(named["name"], f"{named['training_set']}-{system}", seed, config)


def _trained(
    entry: str, training_set: str, seed: int, config: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    block = config["embeddings"][entry]
    settings = {
        "entry": entry,
        "training_set": training_set,
        "model": model_of(block),
        "training": TRAINING | block.get("training", {}),
        "repetition": seed,
    }
    return {f"{entry}-{training_set}-seed{seed}": settings}


def model_of(block: dict[str, Any]) -> dict[str, Any]:
    """Return the model of an entry, with what it does not say filled in."""
    return MODEL | block.get("model", {})


def problems(name: str, config: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with an entry beyond what a schema can say."""
    block = config["embeddings"][name]
    where, model = f"embeddings.{name}", model_of(block)
    # One that only columns are read off is trained on what these name.
    tested = name in config["run"]["embeddings"]
    for training_set in (block.get("training_sets") or []) if tested else []:
        if training_set not in config["run"]["training_sets"]:
            yield f"{where}.training_sets: '{training_set}' is not among run.training_sets"
    encoders = model["encoders"]
    if "blstm" in encoders and model["hidden"] % 2:
        yield f"{where}.model.hidden: blstm needs an even number, one half for each direction"
    sizes = {model["hidden" if each in ("lstm", "blstm") else "dimension"] for each in encoders}
    if model["combine"] == "add" and len(sizes) > 1:
        yield f"{where}.model: to add encoders, dimension and hidden must be the same"
    with_words = [each for each in encoders if each != "trigram"]
    if model["vectors"] is not None and (model["tokens"] != "words" or not with_words):
        yield f"{where}.model.vectors: only encoders of words start from a file of vectors"


def _chosen(block: dict[str, Any], training_sets: Iterable[str]) -> Iterator[str]:
    entries = block.get("training_sets")
    for training_set in training_sets:
        if entries is None or training_set.partition("-")[0] in entries:
            yield training_set
