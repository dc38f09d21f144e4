"""Tables for a terminal: no line is wider than it."""

import re
import shutil
from collections.abc import Sequence
from typing import Any

import tabulate

# Headers are no wider than they are.
tabulate.MIN_PADDING = 0
# The width of a terminal that does not tell its own, and of a pipe.
WIDTH = 80
# No column of texts is folded to less, unless all its parts are shorter.
_NARROWEST = 20
# Where a text is folded: behind blanks, or behind a sign that parts a name or a path before a word.
_PART = re.compile(r"\S*?(?:\s+|[./=_](?=[^\W\d_]{2})|$)")
_BLANK_LINE = "\n\n"


def terminal_width() -> int:
    """Return the columns of the terminal: 80 where none tells its own."""
    return shutil.get_terminal_size((WIDTH, 24)).columns


def folded(text: str, width: int) -> str:
    """Return `text` with line feeds so that no line has more than `width` characters."""
    lines = [""]
    for part in _PART.findall(text):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
            lines.append("")
        while len(part.rstrip()) > width:
            lines[-1], part = part[:width], part[width:]
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def fitted_table(
    rows: Sequence[Sequence[Any]],
    headers: Sequence[str],
    *,
    keys: int = 1,
    texts: Sequence[str] = (),
    align: Sequence[str] | None = None,
    intfmt: str = ",",
    floatfmt: str = "g",
    width: int | None = None,
) -> str:
    """Return a table whose lines are as wide as the terminal at most.

    Columns without a value are left out. If the rest is too wide, headers take several lines; then
    long texts do; then the columns that are left over follow in a table below, each with the
    columns of the keys.

    Args:
        rows: the cells.
        headers: the names of the columns.
        keys: how many columns at the left tell what a row is about.
        texts: headers of the columns that are text, even where they look like numbers, and which
            may be folded.
        align: "left" or "right" for each column; without it, numbers to the right.
        intfmt: format of integers.
        floatfmt: of other numbers.
        width: of a line; without it, that of the terminal.
    """
    limit = terminal_width() if width is None else width
    shown = [
        index
        for index in range(len(headers))
        if index < keys or any(row[index] not in (None, "") for row in rows)
    ]
    names = list(headers)
    cells = [list(row) for row in rows]

    def table(columns: Sequence[int]) -> str:
        return tabulate.tabulate(
            [[row[index] for index in columns] for row in cells],
            [names[index] for index in columns],
            intfmt=intfmt,
            floatfmt=floatfmt,
            colalign=[align[index] for index in columns] if align and rows else None,
            disable_numparse=[
                place for place, index in enumerate(columns) if headers[index] in texts
            ],
        )

    if _widest(table(shown)) <= limit:
        return table(shown)
    for index in shown:
        longest = max(map(len, headers[index].split()), default=0)
        names[index] = ""
        names[index] = folded(headers[index], max(longest, _widest(table([index]))))
    for index in sorted(shown, key=lambda index: -_widest(table([index]))):
        excess = _widest(table(shown)) - limit
        if excess > 0 and headers[index] in texts:
            texts_here = [row[index] for row in cells if isinstance(row[index], str)]
            parts = [part.rstrip() for text in texts_here for part in _PART.findall(text)]
            least = min(_NARROWEST, max(map(len, parts), default=0))
            most = max(least, _widest(table([index])) - excess, 1)
            for row in cells:
                row[index] = folded(row[index], most) if isinstance(row[index], str) else row[index]
    blocks = [shown[:keys]]
    for index in shown[keys:]:
        if len(blocks[-1]) > keys and _widest(table([*blocks[-1], index])) > limit:
            blocks.append(shown[:keys])
        blocks[-1] = [*blocks[-1], index]
    return _BLANK_LINE.join(table(block) for block in blocks)


def _widest(table: str) -> int:
    return max(map(len, table.splitlines()), default=0)
