"""Checks of what systems say of selection that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator
from typing import Any

from workflow_scripts.core.config import Config
from workflow_scripts.core.schema import filled


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with score and select of the run's systems."""
    for name in config["run"]["systems"]:
        if name in config["systems"]:
            yield from _system_problems(f"systems.{name}", config["systems"][name])


def _system_problems(where: str, system: dict[str, Any]) -> Iterator[str]:
    select, prune_above = system["select"], system["score"]["prune_above"]
    keep = filled(select["keep"], "keep")
    max_sum = keep["max_sum"]
    if prune_above is not None and max_sum is not None and max_sum > prune_above:
        yield (
            f"{where}: select.keep.max_sum ({max_sum}) is above score.prune_above "
            f"({prune_above}), which would lose candidates that pass"
        )
    given = [key for key, value in keep.items() if value is not None]
    if len(given) != 1:
        found = f" (now {' and '.join(given)})" if given else ""
        yield (
            f"{where}.select.keep: give one of {', '.join(keep)} a number{found}, and set the "
            "others to null where config.yaml or a recipe before yours has a number"
        )
    if select["method"] == "cluster" and select["best"] > select["clusters"]:
        yield f"{where}: select.best ({select['best']}) needs at least as many clusters"
