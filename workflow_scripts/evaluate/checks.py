"""Checks of `evaluate` that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator

from workflow_scripts.core.config import Config, strangers


def problems(config: Config) -> Iterator[str]:
    """Yield the columns of the corpus statistics that stand in no catalogue."""
    yield from strangers("evaluate.columns", config["evaluate"]["columns"], "columns", config)
