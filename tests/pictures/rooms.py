"""The rooms as a picture: which package imports which, and which it may import."""

from tests.pictures.board import Row, draw
from tests.unit.test_rooms import FILES, ORDER, allowed, imports_of, parts_of, room_of

LEGEND = (
    "A lane leaves each room. An arrow leads into a room; its coloured dots are the rooms "
    "that it imports, its grey dots those that it may import as well. Red: an import that "
    "runs against the order."
)


def rows() -> list[Row]:
    """Return the rooms from the ground up, each with what it imports."""
    imports: dict[str, set[str]] = {room: set() for room in ORDER}
    for file in FILES:
        imports[room_of(parts_of(file))] |= imports_of(file)
    return [
        Row(room, (), frozenset(imports[room]), frozenset(allowed(room) - imports[room]))
        for room in ORDER
    ]


def picture() -> str:
    """Return the picture as SVG."""
    found = rows()
    steps = [f"{row.name} imports {', '.join(sorted(row.takes)) or 'nothing'}" for row in found]
    return draw("Who imports whom", "; ".join(steps), found, LEGEND)
