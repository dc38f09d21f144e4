"""JSON. A key that stands twice in an object is refused: Python would take the last one."""

import json
from typing import Any

from workflow_scripts.core.errors import InputError


class KeyTwiceError(ValueError):
    """An object has a key twice, one of whose values would be lost."""


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: it is none, `KeyTwiceError` where an object has a key twice.
    """
    try:
        return json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise ValueError("too many levels of lists and objects in one another") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if key in fields:
            raise KeyTwiceError(f"key {key!r:.100} stands there twice; take one out")
        fields[key] = value
    return fields


class MissingKeyError(InputError, LookupError):
    """An object that a person gave lacks a key."""


class Given(dict[str, Any]):
    """An object of a person's JSON: a key that it lacks is an error where it is asked for."""

    def __init__(self, value: dict[str, Any], where: str, place: str):
        """Take an object with those in it.

        Args:
            value: the object.
            where: it was given, for messages.
            place: of the object there: what stands before its keys.
        """
        super().__init__((key, given(each, where, place + key)) for key, each in value.items())
        self._where, self._place = where, place

    def __missing__(self, key: str) -> Any:
        """Refuse a key that is not there."""
        raise self.lacks(key)

    def lacks(self, key: str) -> MissingKeyError:
        """Return the error where a key is not there."""
        return MissingKeyError(f"{self._where}: the key '{self._place}{key}' is missing; put it in")


def given(value: Any, where: str, place: str = "") -> Any:
    """Return a value of JSON, all objects of which tell what they lack."""
    if isinstance(value, dict):
        return Given(value, where, f"{place}." if place else "")
    if isinstance(value, list):
        return [given(each, where, f"{place}[{number}]") for number, each in enumerate(value)]
    return value
