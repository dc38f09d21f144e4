"""Checks of `clean` that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator

from workflow_scripts.core.config import Config


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with the limits of cleaning."""
    if config["clean"]["min_words"] > config["clean"]["max_words"]:
        yield "clean: min_words is greater than max_words"
