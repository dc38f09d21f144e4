"""Which lexicons a run makes: the entries of `lexicons` (docs/lexicon.md).

The Snakefile imports this module: only the standard library.
"""

from typing import Any

from workflow_scripts.plan.catalogues.training_sets import sources
from workflow_scripts.plan.schema import filled


def lexicons(config: dict[str, Any]) -> list[str]:
    """Return the lexicons that the run names."""
    return config["run"].get("lexicons", [])  # configurations of earlier runs lack the key


def lexicon(config: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a lexicon's block with its defaults."""
    return filled(config["lexicons"][name], "lexicon")


def lexicon_training_sets(config: dict[str, Any], name: str) -> list[str]:
    """Return the training sets whose pairs a lexicon is made of, `<entry>-<system>`."""
    block = lexicon(config, name)
    return [
        f"{entry}-{system}"
        for entry in block["training_sets"]
        for system in sources(config["training_sets"][entry], config)
        if block["systems"] is None or system in block["systems"]
    ]
