"""Checks of the keys of a configuration that belong to no stage.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.paths import NO_BRACES, holds_wildcards
from workflow_scripts.plan import languages
from workflow_scripts.plan.catalogues import merges
from workflow_scripts.plan.charset import codec
from workflow_scripts.plan.config import Config, unknown_names


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with run, languages, results, shards and compute."""
    for catalogue in ("corpora", "systems", "training_sets", "embeddings"):
        yield from unknown_names(f"run.{catalogue}", config["run"][catalogue], catalogue, config)
    if config["run"]["embeddings"] and not config["run"]["training_sets"]:
        yield "run.embeddings: there is nothing to train on; name training sets too"
    for side, language in config["languages"].items():
        yield from _charset_problems(side, language["charset"])
    yield from languages.problems(config)
    yield from merges.problems(config)
    if holds_wildcards(config["results"]):
        yield f"results: {config['results']}: {NO_BRACES}"
    shards = config["shards"]
    if shards["early"] % shards["late"]:
        yield f"shards: late ({shards['late']}) does not divide early ({shards['early']})"
    if (config["compute"]["device"], config["compute"]["precision"]) == ("cuda", "int8"):
        yield "compute.precision: int8 is for CPUs; with device cuda take bf16"


def _charset_problems(side: str, charset: str | None) -> Iterator[str]:
    try:
        if charset is not None:
            codec(charset, side)
    except InputError as error:
        yield str(error)
