"""The schema of the configuration, and its defaults for keys that a block leaves out.

The default of an optional key stands in config.schema.yaml alone. Whoever reads such a key of a
block calls `filled` first. The blocks of a merged configuration stay as they were written: folder
names follow from them.

Names that the code has in a table are not written a second time: `enum: package.module:TABLE` in
the file stands for the names of that table.

The Snakefile and all stages import this module: only the standard library, and PyYAML once the
schema is asked for, which most jobs don't.
"""

import copy
import functools
import importlib
from pathlib import Path
from typing import Any


@functools.cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the configuration; nobody changes it."""
    from workflow_scripts.core.files.yaml_text import parse_yaml

    path = Path(__file__).with_name("config.schema.yaml")
    return _with_names(parse_yaml(path.read_text(encoding="utf-8"), str(path)))


def _with_names(node: Any) -> Any:
    """Return a part of the schema with the names of each table in place of its address."""
    if isinstance(node, list):
        return [_with_names(item) for item in node]
    if not isinstance(node, dict):
        return node
    whole = {key: _with_names(item) for key, item in node.items()}
    if isinstance(address := whole.get("enum"), str):
        module, table = address.split(":")
        whole["enum"] = list(getattr(importlib.import_module(module), table))
    return whole


def definition(name: str) -> dict[str, Any]:
    """Return the schema's definition of one kind of block: `$defs` has their names."""
    return schema()["$defs"][name]


def defaults(name: str) -> dict[str, Any]:
    """Return the optional keys of a kind of block that have a default, each with it."""
    properties = definition(name)["properties"]
    return {
        key: copy.deepcopy(rule["default"]) for key, rule in properties.items() if "default" in rule
    }


def filled(block: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a block with the defaults of the keys that it leaves out.

    Blocks inside it are left as they are; they have a definition of their own. An optional key
    without a default stays away; its description in the schema says what that means.

    Args:
        block: as the configuration has it.
        name: of the definition that describes it, e.g. `model` for an entry of `models`.
    """
    return defaults(name) | block
