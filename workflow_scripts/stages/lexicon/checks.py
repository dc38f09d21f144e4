"""Checks of `lexicons` that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator
from typing import Any

from workflow_scripts.plan.catalogues import lexicon_measures
from workflow_scripts.plan.catalogues.lexicons import lexicon, lexicons
from workflow_scripts.plan.catalogues.training_sets import sources
from workflow_scripts.plan.config import Config, unknown_names
from workflow_scripts.plan.schema import filled


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with the lexicons that the run names."""
    catalogue: dict[str, Any] = config.get("lexicons", {})
    yield from unknown_names("run.lexicons", lexicons(config), "lexicons", {"lexicons": catalogue})
    for name in lexicons(config):
        if name in catalogue:
            yield from _lexicon_problems(name, config)
    if lexicons(config):
        yield from lexicon_measures.problems(config)


def _lexicon_problems(name: str, config: Config) -> Iterator[str]:
    where, block = f"lexicons.{name}", lexicon(config, name)
    for entry in block["training_sets"]:
        if entry not in config["run"]["training_sets"]:
            yield f"{where}.training_sets: '{entry}' is not among run.training_sets"
    known = [entry for entry in block["training_sets"] if entry in config["run"]["training_sets"]]
    known = [entry for entry in known if entry in config["training_sets"]]
    for entry in known:
        if filled(config["training_sets"][entry], "training_set")["grid"]:
            yield (
                f"{where}.training_sets: '{entry}' has a grid, of which there is more than one "
                "training set; make an entry without"
            )
    having = {
        system for entry in known for system in sources(config["training_sets"][entry], config)
    }
    for system in block["systems"] or []:
        if known and system not in having:
            yield f"{where}.systems: none of its training sets is of '{system}'"
