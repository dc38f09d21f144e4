"""What the folder of a rewriter says of it, beside its model: `rewriter.json`."""

from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.json_text import parse_json

CARD = "rewriter.json"


def read_card(folder: Path) -> dict[str, Any]:
    """Return what a rewriter's folder says of it; nothing where it is any other model's.

    Raises:
        InputError: the file is damaged.
    """
    path = folder / CARD
    try:
        card = parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(f"{path} can't be read ({error}); get the folder again") from error
    if not isinstance(card, dict):
        raise InputError(f"{path} is no object; get the folder again")
    return card


def read_prefix(folder: Path) -> str:
    """Return the text that a model reads in front of every sentence, empty for most models.

    Raises:
        InputError: the file is damaged, or `prefix` is no text.
    """
    prefix = read_card(folder).get("prefix", "")
    if not isinstance(prefix, str):
        raise InputError(f"{folder / CARD}: prefix is {prefix!r}; it must be a text")
    return prefix
