"""Configurations that tests start from, and why a changed one is refused."""

import copy
import functools
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.config import Config
from workflow_scripts.plan.layout import Layout
from workflow_scripts.plan.resolve import resolve
from workflow_scripts.plan.selection import Unit
from workflow_scripts.stages.catalogue import validate

ROOT = Path(__file__).resolve().parents[1]


def run_on_testbed() -> Config:
    """Return the run on the testbed, a copy that may be changed."""
    return json.loads(_testbed())


@functools.cache
def _testbed() -> str:
    return json.dumps(resolve([ROOT / "recipes" / "testbed.yaml"], []))


def merged(base: dict[str, Any], override: dict[str, Any]) -> dict[str, Any]:
    """Return a copy, merged as Snakemake does: mappings deeply, everything else replaced."""
    result = copy.deepcopy(base)
    for key, value in override.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if both else value
    return result


def at(path: str, value: Any) -> dict[str, Any]:
    """Return the change that gives a key this value; `path` has the keys above it, with dots."""
    for key in reversed(path.split(".")):
        value = {key: value}
    return value


def replaced(config: Config, *path_and_value: Any) -> Config:
    """Return a copy in which the last key of the path has this value, whatever it had."""
    *path, last, value = path_and_value
    result = node = copy.deepcopy(config)
    for key in path:
        node = node[key]
    node[last] = value
    return result


def keys(layout: Layout) -> dict[Unit, str]:
    """Return the keys of all units but the release, which shows the configuration."""
    return {unit: layout.key(*unit) for unit in layout.units() if unit[0] != "release"}


def refusal(config: Config, override: dict[str, Any] | None = None) -> str:
    """Return the message by which a configuration, merged with a change, is refused."""
    with pytest.raises(InputError) as error:
        validate(merged(config, override or {}))
    return str(error.value)


def refusals(table: str, path: str = "") -> list[tuple[str, str]]:
    """Return the rows of a table: a change, in YAML, and after ` => ` what is said of it.

    A row may go on in lines that begin with blanks. What is said follows this path, or that of the
    change, where it begins with a colon or a full stop.
    """
    rows = [row.split(" => ") for row in re.sub(r"\n +", " ", table.strip()).splitlines()]
    return [
        (change, (path or change.partition(":")[0]) + said if said[0] in ":." else said)
        for change, said in rows
    ]


def changes(text: str) -> dict[str, Any]:
    """Return the change that YAML tells, whose keys are paths with dots."""
    result: dict[str, Any] = {}
    for path, value in yaml.safe_load(text).items():
        result = merged(result, at(path, value))
    return result
