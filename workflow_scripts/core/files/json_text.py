"""JSON. A key that stands twice in an object is refused: Python would take the last one."""

import json
from typing import Any


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
