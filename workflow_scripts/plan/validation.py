"""Validation of the configuration, with messages that name the key.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import difflib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml
from jsonschema import Draft202012Validator, ValidationError

from workflow_scripts.core.config_size import require_bounded
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.plan.config import Check, Config, with_names
from workflow_scripts.plan.schema import schema


def validate(config: Config, checks: Iterable[Check]) -> Config:
    """Check a merged configuration, and return it with the systems' own names.

    Args:
        config: of the run.
        checks: of what the schema can't say. Problems are reported in this order. They run only
            if the schema is met.

    Raises:
        InputError: the message names each wrong key, what is wrong and what would be right.
    """
    require_bounded(config)

    _require(_unusable(config))
    _require(_schema_problems(config))
    config = with_names(config)
    _require(problem for check in checks for problem in check(config))
    return config


def _require(problems: Iterable[str]) -> None:
    # Two roles may have the same model, and jsonschema reports each missing key of a mapping as an
    # error of its own.
    if different := list(dict.fromkeys(problems)):
        raise InputError("configuration: " + "\n  ".join(["", *different]).strip())


def _schema_problems(config: Config) -> Iterable[str]:
    errors = sorted(Draft202012Validator(schema()).iter_errors(config), key=lambda e: list(e.path))
    return (line for error in errors for line in _describe(error))


def _unusable(value: Any, path: tuple[Any, ...] = ()) -> Iterator[str]:
    """Yield what YAML allows, but JSON, a command line or a file name does not."""
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(key, str):
                yield from _unusable(key, path)
                yield from _unusable(item, (*path, key))
            else:
                yield f"{_dotted(path)}: key {key!r} is no text; put it in quotes"
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unusable(item, (*path, index))
    elif isinstance(value, str) and not _is_text(value):
        yield f"{_dotted(path)}: {value!r} holds NUL or half of a surrogate pair; remove it"
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{_dotted(path)}: {value} is not a finite number"


def _is_text(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in value


def _dotted(path: Any) -> str:
    return ".".join(map(str, path)) or "the top level"


def _describe(error: ValidationError) -> list[str]:
    """Spell an error of jsonschema.

    In the schema a `title` names what has keys of its own: `method beam`, `a model of your own`.
    """
    where = _dotted(error.absolute_path)
    # The part of the schema that was not met. As a bare true or false it says nothing more.
    rules = error.schema if isinstance(error.schema, Mapping) else {}
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        known = list(rules.get("properties", {}))
        unknown = [key for key in error.instance if key not in known]
        return [f"{where}: {_unknown(key, known, rules.get('title'))}" for key in unknown]
    if error.validator == "required" and isinstance(error.instance, dict):
        missing = [key for key in rules["required"] if key not in error.instance]
        title = rules.get("title")
        needed = f", which {title} needs" if title else ""
        return [f"{where}: key '{key}' is missing{needed}" for key in missing]
    if error.validator == "dependentRequired" and isinstance(error.instance, dict):
        return [
            f"{where}: '{key}' needs key '{needed}', which is missing"
            for key, needs in rules["dependentRequired"].items()
            for needed in needs
            if key in error.instance and needed not in error.instance
        ]
    if error.validator == "oneOf" and error.context:
        # Of the alternatives, the one meant is the one that failed deepest, and not by its type.
        best = max(error.context, key=lambda e: (len(e.absolute_path), e.validator != "type"))
        deeper = len(best.absolute_path) > len(error.absolute_path)
        if deeper or best.validator not in ("type", "not"):
            return _describe(best)
        explained = rules.get("description", error.message)
        if isinstance(error.instance, dict | list):
            return [f"{where}: {explained}"]
        return [f"{where}: {error.instance!r} does not fit ({explained}){_no_text(error.instance)}"]
    explained = rules.get("description", "see the schema")
    if "default" in rules:
        explained += f"; default: {_spelt(rules['default'])}"
    remedy = _no_text(error.instance) if error.validator == "type" else ""
    return [f"{where}: {error.message} ({explained}){remedy}"]


def _no_text(value: Any) -> str:
    """Return the remedy for a text that stands where something else belongs and that spells it."""
    if not isinstance(value, str) or not value.strip():
        return ""
    try:
        meant = yaml.safe_load(value)
    except yaml.YAMLError:
        return ""
    if isinstance(meant, str):
        return ""
    return (
        f"; {value!r} is a text: take the quotes off. If it came by --config KEY={{...}}: "
        "Snakemake takes every value inside for text, so write the key into a recipe, a YAML file "
        "that --configfile takes"
    )


def _unknown(key: str, known: list[str], title: str | None) -> str:
    if title and not difflib.get_close_matches(key, known, n=1):
        return f"{title} has no key '{key}'; take it out"
    return f"unknown key '{key}'{suggestion(key, known)}"


def _spelt(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
