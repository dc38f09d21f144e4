"""Templates, and how they write figures."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

_SHARED = Path(__file__).with_name("templates")
# What stands where a measure doesn't exist.
ABSENT = "–"


def grouped(count: int | None) -> str:
    """Return an integer with a comma at every third digit."""
    return ABSENT if count is None else f"{count:,}"


def decimal(value: float | None, digits: int = 2) -> str:
    """Return a number with fixed decimals and a true minus sign."""
    return ABSENT if value is None else f"{value:.{digits}f}".replace("-", "\u2212")


def percent(part: int, whole: int) -> str:
    """Return a share of `whole`."""
    return f"{100 * part / whole:.1f} %" if whole else ABSENT


def environment(folder: Path) -> Environment:
    """Return the templates in a folder, which may import `macros.html.j2`.

    HTML is escaped, an undefined name is an error.
    """
    templates = Environment(
        loader=FileSystemLoader([folder, _SHARED]),
        autoescape=select_autoescape(enabled_extensions=("html.j2",)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= {"grouped": grouped, "decimal": decimal}
    templates.globals |= {"percent": percent, "ABSENT": ABSENT}
    return templates
