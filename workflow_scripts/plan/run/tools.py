"""The versions of packages that made the folders of a run, as records and manifests tell them."""

from collections.abc import Iterable, Mapping
from typing import Any

# How many units of each version are named; the others are counted.
_NAMED = 5


def tools_of(contents: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the versions of each package in records (one each) and manifests (a list each)."""
    versions: dict[str, set[str]] = {}
    for content in contents:
        for tool, used in content.get("tools", {}).items():
            versions.setdefault(tool, set()).update([used] if isinstance(used, str) else used)
    return {tool: sorted(numbers) for tool, numbers in sorted(versions.items())}


def mixed_versions(units: Mapping[str, Mapping[str, Iterable[str]]]) -> list[str]:
    """Return a line for each package of which several versions made the units of one run.

    Args:
        units: what `tools_of` returns, by the names of the units.
    """
    by_tool: dict[str, dict[str, list[str]]] = {}
    for name, tools in units.items():
        for tool, versions in tools.items():
            for version in versions:
                by_tool.setdefault(tool, {}).setdefault(version, []).append(name)
    return [
        f"different versions of {tool} made this run: "
        + "; ".join(f"{version} {_listed(names)}" for version, names in sorted(by_version.items()))
        for tool, by_version in sorted(by_tool.items())
        if len(by_version) > 1
    ]


def _listed(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
