"""Make the list of subcommands in docs/command.md anew: python -m tests.subcommands."""

import re

from paraloom.commands import ENTRIES
from tests.options import DOCS

PAGE = DOCS / "command.md"
_MARKED = re.compile(r"(<!-- subcommands -->\n).*?(<!-- /subcommands -->\n)", re.DOTALL)


def made_anew() -> str:
    """Return the text of the page with its list as the command has it now."""
    width = max(map(len, ENTRIES))
    lines = [f"{name:{width}}  {entry.help}\n" for name, entry in sorted(ENTRIES.items())]
    listed = "\n```\n" + "".join(lines) + "```\n\n"
    text, count = _MARKED.subn(rf"\g<1>{listed}\g<2>", PAGE.read_text(encoding="utf-8"))
    assert count == 1, PAGE
    return text


if __name__ == "__main__":
    PAGE.write_text(made_anew(), encoding="utf-8")
