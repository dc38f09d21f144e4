"""A bound on the size of a configuration.

With YAML's aliases ten lines can stand for a thousand million values. After loading they share
objects, so they need little memory, but a loop over all values never ends.

The Snakefile imports this module: only the standard library.
"""

from typing import Any

from workflow_scripts.core.errors import InputError

# A hundred thousand files, each named with a path, are some 400,000 nodes.
MOST_NODES = 5_000_000
MOST_DEPTH = 100
_CHARACTERS_OF_A_NODE = 100


def require_bounded(config: Any, name: str = "configuration") -> None:
    """Refuse a configuration that is too large or too deep; an alias counts at every place.

    Each object is visited once, so the time depends on the length of the file only.

    Raises:
        InputError: it has more than `MOST_NODES` values, or more than `MOST_DEPTH` levels (a value
            that contains itself has).
    """
    sizes: dict[int, int] = {}

    def size(value: Any, depth: int) -> int:
        if depth > MOST_DEPTH:
            raise InputError(
                f"{name}: more than {MOST_DEPTH} levels of lists and mappings in one another, or "
                "an alias inside itself; take them out"
            )
        if isinstance(value, str):
            return 1 + len(value) // _CHARACTERS_OF_A_NODE
        if not isinstance(value, dict | list | tuple | set):
            return 1
        if id(value) not in sizes:
            parts = [*value, *value.values()] if isinstance(value, dict) else value
            sizes[id(value)] = 1 + sum(size(part, depth + 1) for part in parts)
        return sizes[id(value)]

    if size(config, 0) > MOST_NODES:
        raise InputError(
            f"{name}: it stands for more than {MOST_NODES:,} values, by aliases (*name) of "
            "aliases; write out what is meant"
        )
