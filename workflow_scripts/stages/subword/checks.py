"""Checks of `subword` that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator

from workflow_scripts.plan.config import Config


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with the sampling of segmentations."""
    if config["subword"]["model_type"] == "bpe" and config["subword"]["samples"]:
        yield "subword: bpe has no sampled segmentations; set samples to 0 or take unigram"
