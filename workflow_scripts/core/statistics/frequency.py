"""How often things occur."""

from collections.abc import Mapping


def most_frequent(counts: Mapping[str, int]) -> dict[str, int]:
    """Return counts, the largest first; equal ones stand in the order of their names."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
