"""The columns of a report's table: what stands in a record, its heading, and how it is rounded.

Templates make them by the functions in `COLUMNS`, and show them by the macro `table`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from workflow_scripts.core.report.rendering import ABSENT, decimal, grouped
from workflow_scripts.core.report.table import Record, value_at


class Column(NamedTuple):
    """A column: the heading, the path of its values, and how one is shown.

    Attributes:
        title: the heading.
        path: where a value stands in a record (`value_at`).
        show: returns a value as text.
        css: the class of its cells; those of a `row` are headings of their rows.
        interval: the path of `low` and `high`, which stand behind a value.
        deviation: the path of a standard deviation, which stands there in place of these.
        show_spread: returns one of these as text.
        spread: what is around them.
    """

    title: str
    path: str
    show: Callable[[Any], str]
    css: str
    interval: str = ""
    deviation: str = ""
    show_spread: Callable[[Any], str] = grouped
    spread: Markup = Markup('<span class="interval">{}</span>')

    @property
    def heading_css(self) -> str:
        """Return the class of its heading: numbers stand to the right."""
        return "number" if self.css == "number" else ""

    def cell(self, record: Record) -> Markup:
        """Return the cell of a record."""
        shown = escape(self.show(value_at(record, self.path)))
        deviation = value_at(record, self.deviation) if self.deviation else None
        ends = value_at(record, self.interval) if self.interval else None
        if deviation is not None:
            shown += " " + self.spread.format(f"± {self.show_spread(deviation)}")
        elif ends and ends["low"] is not None:
            low, high = (self.show_spread(ends[end]) for end in ("low", "high"))
            shown += " " + self.spread.format(f"{low} to {high}")
        if self.css == "row":
            return Markup('<th scope="row">{}</th>').format(shown)
        css = Markup(' class="{}"').format(self.css) if self.css else ""
        return Markup("<td{}>{}</td>").format(css, shown)


def text(path: str, title: str | None = None, css: str = "") -> Column:
    """Return the column of a text, or of a number that is shown as it is."""
    return Column(_title(path, title), path, lambda value: "" if value is None else value, css)


def row_name(path: str, title: str | None = None, code: bool = False) -> Column:
    """Return the column of the headings of rows, texts or code."""
    column = text(path, title, "row")
    return column._replace(show=Markup("<code>{}</code>").format) if code else column


def count(path: str, title: str | None = None) -> Column:
    """Return the column of a count."""
    return Column(_title(path, title), path, grouped, "number")


def number(
    path: str,
    title: str | None = None,
    digits: int = 2,
    interval: str = "",
    deviation: str = "",
    times: int = 1,
    spread_digits: int = 1,
) -> Column:
    """Return the column of a number with fixed decimals, and of what stands behind it."""
    heading, value, spread = (
        _title(path, title),
        _rounded(digits, times),
        _rounded(spread_digits, times),
    )
    return Column(heading, path, value, "number", interval, deviation, spread)


def estimate(name: str, title: str, digits: int = 1, times: int = 1) -> Column:
    """Return the column of a figure that is `value`, `low` and `high` under a name."""
    return number(f"{name}.value", title, digits, name, times=times, spread_digits=digits)


def in_brackets(column: Column) -> Column:
    """Return a column whose intervals stand in brackets."""
    return column._replace(spread=Markup("({})"))


def _rounded(digits: int, times: int) -> Callable[[float | None], str]:
    return lambda value: ABSENT if value is None else decimal(times * value, digits)


def _title(path: str, title: str | None) -> str:
    return path.replace("_", " ").removesuffix("?") if title is None else title


# What templates of sections call.
COLUMNS = {
    "row_name": row_name,
    "text": text,
    "count": count,
    "number": number,
    "estimate": estimate,
    "in_brackets": in_brackets,
}
