"""The type of a configuration, the roles of models, and what the checks of the stages share.

The Snakefile imports this module, and so do jobs, by way of the checks: the standard library alone.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from workflow_scripts.core.suggestion import suggestion

Config = dict[str, Any]
# Yields what is wrong with the keys that one stage owns. The schema was checked before.
Check = Callable[[Config], Iterable[str]]
FILTER_ROLES = ("filter_forward", "filter_backward")
MAIN_ROLES = ("forward", "backward")


def unknown_names(key: str, names: Iterable[str], catalogue: str, config: Config) -> Iterator[str]:
    """Yield a problem for each of the names at `key` that a catalogue does not have."""
    for name in names:
        if name not in config[catalogue]:
            known = suggestion(name, list(config[catalogue]))
            yield f"{key}: '{name}' is not in {catalogue}{known}"
