"""The type of a configuration, the roles of models, and what the checks of the stages share.

The Snakefile imports this module, and so do jobs, by way of the checks: the standard library alone.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from workflow_scripts.core.errors import InputError
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


def with_names(config: Config) -> Config:
    """Return a configuration whose systems have the names that their blocks give them.

    A block of a system as it once was finds the folders of its finished runs so: digests, paths,
    tables and other blocks have the name of the run.

    Raises:
        InputError: two systems of the run have one name.
    """
    run, blocks = config["run"], config["systems"]
    names = {name: blocks.get(name, {}).get("name") or name for name in run["systems"]}
    for name, own in names.items():
        if name != own and list(names.values()).count(own) > 1:
            raise InputError(
                f"configuration: run.systems: {name} goes by the name of {own}, as another "
                f"does; a run has one of them, or systems.{name}.name is null"
            )
    named = {
        own: {key: value for key, value in blocks[name].items() if key != "name"}
        for name, own in names.items()
        if name in blocks
    }
    systems = list(names.values())
    return {**config, "run": {**run, "systems": systems}, "systems": {**blocks, **named}}
