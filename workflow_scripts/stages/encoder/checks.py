"""Checks of `encoders` that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator
from typing import Any

from workflow_scripts.plan.catalogues import encoder_blocks
from workflow_scripts.plan.catalogues.encoder_entries import encoder, encoders
from workflow_scripts.plan.catalogues.encoder_tasks import encoder_tasks
from workflow_scripts.plan.catalogues.training_sets import encoder_system, sources
from workflow_scripts.plan.config import Config, unknown_names
from workflow_scripts.plan.schema import filled


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with the encoders that the run names, or that its columns need."""
    catalogue = {"encoders": config.get("encoders", {})}
    yield from unknown_names("run.encoders", encoders(config), "encoders", catalogue)
    for name in encoders(config):
        if name in catalogue["encoders"]:
            yield from _encoder_problems(name, config)
    if "encoder_tasks" in config:
        yield from _task_problems(encoder_tasks(config))


def _task_problems(block: dict[str, Any]) -> Iterator[str]:
    if block["stride"] > block["span_length"]:
        yield (
            f"encoder_tasks.stride: {block['stride']} tokens are more than span_length, which is "
            f"{block['span_length']}: parts of passages would be left out; lower it"
        )


def _encoder_problems(name: str, config: Config) -> Iterator[str]:
    where, block = f"encoders.{name}", encoder(config, name)
    yield from unknown_names(
        f"{where}.embedding.name", [block["embedding"]["name"]], "embeddings", config
    )
    known = True
    for key, entry in (
        ("training_set", block["training_set"]),
        ("embedding.training_set", block["embedding"]["training_set"]),
    ):
        if unknown := list(unknown_names(f"{where}.{key}", [entry], "training_sets", config)):
            known = False
            yield from unknown
        elif filled(config["training_sets"][entry], "training_set")["grid"]:
            yield (
                f"{where}.{key}: training_sets.{entry} has a grid, which makes it several; name "
                "one without a grid"
            )
    if known:
        yield from _system_problems(where, name, config)
    yield from _base_problems(where, block)
    low, high = block["negatives"]["ranks"]
    if low > high:
        yield f"{where}.negatives.ranks: {low} is greater than {high}"
    least, greatest = block["negatives"]["similarity"]
    if least is not None and greatest is not None and least > greatest:
        yield f"{where}.negatives.similarity: {least} is greater than {greatest}"


def _system_problems(where: str, name: str, config: Config) -> Iterator[str]:
    block = config["encoders"][name]
    of_pairs = sources(config["training_sets"][block["training_set"]], config)
    system = encoder_system(name, config)
    if system is None:
        yield (
            f"{where}.system: key 'system' is missing; training_sets.{block['training_set']} is of "
            f"{', '.join(of_pairs) or 'no system of the run'}: name one of them"
        )
        return
    of_embedding = sources(config["training_sets"][block["embedding"]["training_set"]], config)
    for key, entry, having in (
        ("training_set", block["training_set"], of_pairs),
        ("embedding.training_set", block["embedding"]["training_set"], of_embedding),
    ):
        if system not in having:
            yield (
                f"{where}.{key}: training_sets.{entry} has no pairs of '{system}', but of "
                f"{', '.join(having) or 'no system of the run'}; name another, or another system"
            )


def _base_problems(where: str, block: dict[str, Any]) -> Iterator[str]:
    scratch = block["scratch"]
    if ("base" in block) == (scratch is not None):
        yield f"{where}: one of base and scratch says what is tuned; give one of them"
        return
    if scratch is None:
        yield from encoder_blocks.problems(block["base"], f"{where}.base")
    elif scratch["hidden"] % scratch["heads"]:
        yield (
            f"{where}.scratch.heads: {scratch['heads']} does not divide hidden, which is "
            f"{scratch['hidden']}"
        )
