"""Who takes from whom, drawn as an SVG board: one row for each box, one lane for what it gives.

A box's lane leaves it at the right and runs to the last box that takes from it. A box takes from
the lanes on which its own line has a dot. So many arrows stay readable on a narrow screen.

The picture has paper of its own, light or dark as the reader's system is, and no text beside it.
"""

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

STYLE = """
svg { --paper: #ffffff; --ink: #1f2430; --soft: #5b6270; --box: #eef1f6; --edge: #aab2c0;
  --line: #7d8798; --faint: #d3d8e0; --up: #c2255c; --l0: #2b6cb0; --l1: #b7651a; --l2: #2f7d4f;
  --l3: #7a4fb5 }
@media (prefers-color-scheme: dark) {
  svg { --paper: #1b1e26; --ink: #e8eaf0; --soft: #a9b0bd; --box: #2a2f3a; --edge: #566072;
    --line: #8a94a8; --faint: #3c4352; --up: #ff7aa2; --l0: #74b0ec; --l1: #e8a869; --l2: #7ccb9c;
    --l3: #bd9cf0 }
}
text { font-family: system-ui, -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif;
  fill: var(--ink) }
.name { font-size: 13px; font-weight: 600 } .note { font-size: 10.5px; fill: var(--soft) }
.paper { fill: var(--paper) } .box { fill: var(--box); stroke: var(--edge) }
.takes { stroke: var(--line); fill: none; stroke-width: 1.2 } .head { fill: var(--line) }
.free { fill: var(--faint) } .l0 { --own: var(--l0) } .l1 { --own: var(--l1) }
.l2 { --own: var(--l2) } .l3 { --own: var(--l3) } .up { --own: var(--up) }
.lane { stroke: var(--own); fill: none; stroke-width: 1.6 } .dot { fill: var(--own) }
"""
COLOURS = 4
MARGIN, GAP, LANE = 10, 7, 10
HEAD = 17  # from a box to the first lane: room for the head of an arrow
LINE = 13  # from one line of notes to the next
# As wide as the widest usual font needs it: per letter of a name and of a note.
NAME_LETTER, NOTE_LETTER = 8.6, 6.2
RADIUS = 3.4


@dataclass(frozen=True)
class Row:
    """A box, and what it takes.

    Attributes:
        name: of the box; no two are the same.
        notes: lines of small text below it.
        takes: names of the boxes that it takes from.
        may: names of further boxes that it may take from.
    """

    name: str
    notes: Sequence[str]
    takes: frozenset[str]
    may: frozenset[str] = frozenset()


def draw(title: str, description: str, rows: Sequence[Row], legend: str) -> str:
    """Return an SVG picture of the rows in their order, from the top, with its legend below."""
    boxes = _boxes(rows)
    right = boxes[-1].lane + LANE + MARGIN
    bottom = boxes[-1].bottom + 22
    body = [*_free_dots(boxes), *_lines(boxes), *_lanes(boxes), *_dots(boxes)]
    for box in boxes:
        body += box.drawn()
    for text in textwrap.wrap(legend, int((right - 2 * MARGIN) / NOTE_LETTER)):
        body.append(_text(MARGIN, bottom, "note", text))
        bottom += 15
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{right}" height="{bottom}"'
            f' viewBox="0 0 {right} {bottom}">',
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(description)}</desc>",
            f"<style>{STYLE}</style>",
            f'<rect class="paper" width="{right}" height="{bottom}" rx="8"/>',
            *body,
            "</svg>",
            "",
        ]
    )


@dataclass(frozen=True)
class _Box:
    row: Row
    place: int
    top: float
    width: int

    @property
    def edge(self) -> int:
        return MARGIN + self.width

    @property
    def bottom(self) -> float:
        return self.top + 22 + LINE * len(self.row.notes)

    @property
    def given(self) -> float:
        """The height at which its lane leaves it."""
        return self.bottom - 6

    @property
    def taken(self) -> float:
        """The height at which it takes from lanes."""
        return self.top + 7

    @property
    def lane(self) -> int:
        """Where its lane is, from the left."""
        return self.edge + HEAD + LANE * self.place

    @property
    def colour(self) -> str:
        return f"l{self.place % COLOURS}"

    def drawn(self) -> list[str]:
        notes = [
            _text(MARGIN + 8, self.top + 28 + LINE * index, "note", note)
            for index, note in enumerate(self.row.notes)
        ]
        return [
            f'<rect class="box" x="{MARGIN}" y="{_number(self.top)}" width="{self.width}"'
            f' height="{_number(self.bottom - self.top)}" rx="4"/>',
            _text(MARGIN + 8, self.top + 15, "name", self.row.name),
            *notes,
        ]


def _boxes(rows: Sequence[Row]) -> list[_Box]:
    widest = [NAME_LETTER * len(row.name) for row in rows]
    widest += [NOTE_LETTER * len(note) for row in rows for note in row.notes]
    width = math.ceil(max(widest)) + 16
    top, boxes = float(MARGIN), []
    for place, row in enumerate(rows):
        boxes.append(_Box(row, place, top, width))
        top = boxes[-1].bottom + GAP
    return boxes


def _lanes(boxes: Sequence[_Box]) -> Iterable[str]:
    for box in boxes:
        ends = [each.taken for each in boxes if box.row.name in each.row.takes]
        below, above = max([*ends, -math.inf]), min([*ends, math.inf])
        edge, given = box.edge, box.given
        if below > given:
            yield _path("lane", box.colour, (edge, given), (box.lane, given), (box.lane, below))
        if above < given:
            yield _path("lane", "up", (edge, given), (box.lane, given), (box.lane, above))


def _lines(boxes: Sequence[_Box]) -> Iterable[str]:
    for box in boxes:
        last = max((each.lane for each in boxes if each.row.name in box.row.takes), default=None)
        if last is None:
            continue
        edge, at = box.edge, box.taken
        yield _path("takes", "", (last, at), (edge + 6, at))
        points = ((edge + 1, at), (edge + 8, at - 3.5), (edge + 8, at + 3.5))
        spelt = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        yield f'<polygon class="head" points="{spelt}"/>'


def _dots(boxes: Sequence[_Box]) -> Iterable[str]:
    for box in boxes:
        for each in boxes:
            if each.row.name in box.row.takes:
                colour = each.colour if each.place < box.place else "up"
                yield _dot(f"dot {colour}", each.lane, box.taken, RADIUS)


def _free_dots(boxes: Sequence[_Box]) -> Iterable[str]:
    for box in boxes:
        for each in boxes:
            if each.row.name in box.row.may:
                yield _dot("free", each.lane, box.taken, RADIUS - 1.2)


def _dot(kind: str, x: float, y: float, radius: float) -> str:
    place = f'cx="{_number(x)}" cy="{_number(y)}" r="{_number(radius)}"'
    return f'<circle class="{kind}" {place}/>'


def _path(kind: str, colour: str, *points: tuple[float, float]) -> str:
    steps = " L".join(f"{_number(x)} {_number(y)}" for x, y in points)
    return f'<path class="{" ".join(filter(None, (kind, colour)))}" d="M{steps}"/>'


def _text(x: float, y: float, kind: str, text: str) -> str:
    return f'<text class="{kind}" x="{_number(x)}" y="{_number(y)}">{escape(text)}</text>'


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
