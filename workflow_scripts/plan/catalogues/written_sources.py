"""Sources that a model writes: of corpora of text (docs/corpus.md), and further ones of systems.

The Snakefile imports this module: only the standard library.
"""

from typing import Any

from workflow_scripts.plan.catalogues import pools
from workflow_scripts.plan.schema import filled

# What follows the name of such a corpus in the name of a unit: of its text, and of its sources.
TEXT, SOURCES = "-text", "-sources"
# The roles of the finished models that write sources, and score the references given them. They
# are those of the run, taken over once more: the run's own are measured on pairs, which are not
# there yet.
_WRITER = "writer_"
WRITER_ROLES = (f"{_WRITER}forward", f"{_WRITER}backward")


def is_text(block: dict[str, Any]) -> bool:
    """Tell whether a block of `corpora` is text without sources."""
    return "text" in block


def written_corpora(config: dict[str, Any]) -> list[str]:
    """Return the corpora of the run whose sources are written."""
    blocks = config["corpora"]
    return [name for name in config["run"]["corpora"] if is_text(blocks.get(name, {}))]


def writer_roles(config: dict[str, Any]) -> list[str]:
    """Return the roles of the models that write sources; none if the run has no such corpus."""
    return [*WRITER_ROLES] if written_corpora(config) else []


def main_role(role: str) -> str:
    """Return the role in `train.models` that names the model of a role."""
    return role.removeprefix(_WRITER)


def mark(config: dict[str, Any]) -> str:
    """Return what stands as the source of such a corpus wherever the corpus is described."""
    return f"written by {config['train']['models']['backward']}"


def further(config: dict[str, Any], system: str) -> dict[str, Any]:
    """Return what is said of sources that were written for a system's references.

    Nothing if it has none.
    """
    wanted = pools.sources(config["systems"][system])
    if not wanted["written"]:
        return {}
    return {"human": wanted["human"], "written": wanted["written"], "mark": mark(config)}


def settings(config: dict[str, Any], name: str) -> dict[str, Any]:
    """Return how the sources of a corpus are written: `search` and `max_nll`, with defaults."""
    block = filled(config["corpora"][name], "corpus")
    return {"search": block["search"], "max_nll": block["max_nll"]}
