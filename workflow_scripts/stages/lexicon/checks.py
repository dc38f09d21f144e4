"""Checks of `lexicons` that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator
from typing import Any

from workflow_scripts.plan.catalogues import lexicon_measures
from workflow_scripts.plan.catalogues.lexicons import lexicon, lexicons
from workflow_scripts.plan.catalogues.training_sets import problems_of_entries
from workflow_scripts.plan.config import Config, unknown_names


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with the lexicons that the run names."""
    catalogue: dict[str, Any] = config.get("lexicons", {})
    yield from unknown_names("run.lexicons", lexicons(config), "lexicons", {"lexicons": catalogue})
    for name in lexicons(config):
        if name in catalogue:
            block = lexicon(config, name)
            yield from problems_of_entries(f"lexicons.{name}", block, config)
    if lexicons(config):
        yield from lexicon_measures.problems(config)
