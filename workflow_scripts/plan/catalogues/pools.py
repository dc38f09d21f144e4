"""What candidates of a system come from: its searches, and the sources that these read.

The Snakefile imports this module: only the standard library.
"""

import hashlib
from typing import Any

from workflow_scripts.core.files.seal import canonical
from workflow_scripts.plan.schema import filled

# What the name of a unit with further sources begins with; what follows tells their search.
WRITTEN = "sources-"


def named_searches(block: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the searches of a system's block by their names; none if it has one without a name.

    Those that are false are left out: mappings merge, so a recipe could not remove them otherwise.
    """
    searches = block.get("searches") or {}
    return {name: search for name, search in searches.items() if search is not False}


def searches(block: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all searches of a system's block, as they were written."""
    return [*named_searches(block).values()] or [block["search"]]


def constrained(block: dict[str, Any]) -> list[bool]:
    """Return of each of them whether the constraints of the system hold for it."""
    names = [*named_searches(block)]
    held = (block.get("constraints") or {}).get("searches", names)
    return [name in held for name in names] or [True]


def outputs(search: dict[str, Any]) -> int:
    """Return how many texts a search gives at most for each constraint set."""
    search = filled(search, search["method"])
    return int(search["samples" if search["method"] == "sample" else "nbest"])


def sources(block: dict[str, Any]) -> dict[str, Any]:
    """Return the sources that a system's block asks for: `human`, `written`, `search`."""
    return filled(block.get("sources") or {}, "system_sources")


def written_unit(block: dict[str, Any]) -> str | None:
    """Return the unit with the written sources of a system's block; None: it asks for none.

    Systems whose sources are written alike share it, however many each takes.
    """
    wanted = sources(block)
    if not wanted["written"]:
        return None
    return WRITTEN + hashlib.sha256(canonical(wanted["search"]).encode("utf-8")).hexdigest()[:8]


def written_units(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the units with written sources of a run, each with the search that writes them."""
    blocks = [config["systems"][name] for name in config["run"]["systems"]]
    return {name: sources(block)["search"] for block in blocks if (name := written_unit(block))}
