"""Templates, and the format of figures in them."""

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from workflow_scripts.core.files.json_text import Given

_SHARED = Path(__file__).with_name("templates")
# Stands in place of a measure that doesn't exist.
ABSENT = "–"


def grouped(count: int | None) -> str:
    """Return an integer with a comma at every third digit."""
    return ABSENT if count is None else f"{count:,}"


def decimal(value: float | None, digits: int = 2) -> str:
    """Return a number with fixed decimals and a true minus sign."""
    return ABSENT if value is None else f"{value:.{digits}f}".replace("-", "\u2212")


def percent(part: int, whole: int) -> str:
    """Return `part` as a percentage of `whole`."""
    return f"{100 * part / whole:.1f} %" if whole else ABSENT


def markdown(text: str) -> str:
    """Return Markdown that shows a text as it is: characters of its syntax get a backslash.

    Underscores inside a word need none (CommonMark 0.31, 6.2).
    """
    return re.sub(r"[\\`*{}\[\]<>#|~&$]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", text)


def code_span(text: str) -> str:
    """Return text as code inside a line of Markdown, whatever backticks it holds."""
    text = " ".join(text.split())
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    blank = " " if text.startswith("`") or text.endswith("`") or not text else ""
    return f"{fence}{blank}{text}{blank}{fence}"


class _Absent(StrictUndefined):
    """What is not there; a key that a person's JSON lacks is told as elsewhere."""

    def __init__(self, *told: Any, **named: Any):
        super().__init__(*told, **named)
        obj, key = self._undefined_obj, self._undefined_name
        if isinstance(obj, Given):
            # jinja only calls it, as it would call a class.
            self._undefined_exception = lambda _: obj.lacks(str(key))  # type: ignore[assignment]


def environment(*folders: Path) -> Environment:
    """Return the templates in some folders, which may import `macros.html.j2`.

    HTML is escaped, an undefined name is an error.
    """
    templates = Environment(
        loader=FileSystemLoader([*folders, _SHARED]),
        autoescape=select_autoescape(enabled_extensions=("html.j2",)),
        undefined=_Absent,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= {
        **{"grouped": grouped, "decimal": decimal},
        **{"markdown": markdown, "code_span": code_span},
    }
    templates.globals |= {"percent": percent, "ABSENT": ABSENT}
    return templates
