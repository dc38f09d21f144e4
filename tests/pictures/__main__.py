"""Make the pictures of docs/architecture.md anew: python -m tests.pictures."""

import tempfile
from pathlib import Path

from tests.pictures import flow, rooms

DOCS = Path(__file__).resolve().parents[2] / "docs"


def pictures() -> dict[str, str]:
    """Return the pictures by the names of their files in docs/."""
    with tempfile.TemporaryDirectory() as folder:
        return {"flow.svg": flow.picture(Path(folder)), "rooms.svg": rooms.picture()}


if __name__ == "__main__":
    for name, text in pictures().items():
        (DOCS / name).write_text(text, encoding="utf-8")
