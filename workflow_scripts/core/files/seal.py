"""The hash that a record or a manifest holds of itself, so that a changed digit is found.

The Snakefile imports this module: only the standard library.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

SEAL = "sha256"
# What the keys of records and manifests are, in each form that they ever had.
_KINDS: dict[str, type] = {
    **dict.fromkeys(("files", "rejected", "tools", "parts", "upstream"), dict),
    **dict.fromkeys(("rows_in", "rows_out"), int),
}


def canonical(value: Any) -> str:
    """Return the one JSON string of `value`: sorted keys, no blanks."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sealed(content: dict[str, Any]) -> dict[str, Any]:
    """Return `content` with a hash of itself under `SEAL`, as it will be read back from JSON."""
    known = json.loads(json.dumps(content))
    return {**known, SEAL: _digest(known)}


def read_sealed(path: str | Path) -> dict[str, Any]:
    """Return the object in a JSON file. One without a hash of itself, from before, is read as well.

    Raises:
        OSError: it can't be read.
        ValueError: it is no JSON object, its hash of itself is not that of the rest, or a key of
            records and manifests is of another kind than theirs.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except RecursionError as error:
        raise ValueError("too many levels") from error
    if not isinstance(content, dict):
        raise ValueError("it is no JSON object")
    # The key may be damaged itself; no other value of a record is a hash.
    held = content.get(SEAL, next(filter(is_sha256, content.values()), None))
    if held is not None and held != _digest(content):
        raise ValueError("it differs from what its stage wrote: its hash of itself is another")
    _require_kinds(content)
    for name, part in content.get("parts", {}).items():
        if not isinstance(part, dict):
            raise ValueError(f"its part {name} is no record")
        _require_kinds(part)
    return content


def _require_kinds(content: dict[str, Any]) -> None:
    """Raise ValueError if a key is not of the kind that all who read records take it for."""
    for key, kind in _KINDS.items():
        if key in content and not isinstance(content[key], kind):
            raise ValueError(f"{key!r} is no {'object' if kind is dict else 'number'}")


def is_sha256(value: Any) -> bool:
    """Tell whether a value is a SHA-256 as hexadecimal digits."""
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def _digest(content: dict[str, Any]) -> str:
    rest = {key: value for key, value in content.items() if key != SEAL}
    return hashlib.sha256(canonical(rest).encode("utf-8", "surrogatepass")).hexdigest()
