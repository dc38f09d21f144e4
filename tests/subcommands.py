"""Make the table of subcommands in docs/command.md anew: python -m tests.subcommands."""

import re

from paraloom.commands import ENTRIES
from tests.options import DOCS

PAGE = DOCS / "command.md"
_MARKED = re.compile(r"(<!-- subcommands -->\n).*?(<!-- /subcommands -->\n)", re.DOTALL)


def made_anew() -> str:
    """Return the text of the page with its table as the command has it now."""
    rows = [f"| `paraloom {name}` | {entry.help} |\n" for name, entry in sorted(ENTRIES.items())]
    table = "\n| subcommand | what it does |\n|---|---|\n" + "".join(rows) + "\n"
    text, count = _MARKED.subn(rf"\g<1>{table}\g<2>", PAGE.read_text(encoding="utf-8"))
    assert count == 1, PAGE
    return text


if __name__ == "__main__":
    PAGE.write_text(made_anew(), encoding="utf-8")
