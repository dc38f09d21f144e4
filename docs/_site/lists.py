"""Lists that are made of the code when the site is built, so that nothing is typed twice.

The public names of the library stand in place of a mark in docs/library.md, made of their
docstrings, and the subcommands in place of one in docs/command.md.
"""

import inspect
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import paraloom
from paraloom.commands import ENTRIES

MARK = "<!-- list -->"
# In the order of the page: what one calls, then what goes in and comes out.
NAMES = (
    *("Paraphraser", "Translator", "Rewriter", "score", "judge", "read"),
    *("Request", "Search", "Paraphrases", "Paraphrase", "Translations", "Translation"),
    *("InputError", "ArgumentError"),
)
_SECTION = re.compile(r"^(Args|Attributes|Returns|Raises):$")
_ENTRY = re.compile(r"^ {4}(\w+): (.*)$")
_MODULES = re.compile(r"\b(?:pathlib|collections\.abc|paraloom|workflow_scripts)[\w.]*\.(?=[A-Z])")


def signature(name: str, thing: Any) -> str:
    """Return the call of a class or function, one parameter on a line if they are several."""
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return f"class {name}({thing.__bases__[0].__name__})"
    found = inspect.signature(thing)
    own = [each for each in found.parameters.values() if each.name != "self"]
    returned = "" if inspect.isclass(thing) else f" -> {_returned(found.return_annotation)}"
    lines = "".join(f"    {each},\n" for each in own)
    text = f"{name}(\n{lines}){returned}" if len(own) > 1 else f"{name}({own[0]}){returned}"
    return _MODULES.sub("", text).replace("'", '"')


def _returned(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def described(thing: Any) -> str:
    """Return a docstring as Markdown: its sections become lists."""
    lines: list[str] = []
    for line in inspect.cleandoc(thing.__doc__).splitlines():
        if section := _SECTION.match(line):
            lines += [f"*{section[1]}*", ""]
        elif entry := _ENTRY.match(line):
            lines.append(f"- `{entry[1]}`: {entry[2]}")
        elif line.startswith("        "):
            lines.append(f"  {line.strip()}")
        else:
            lines.append(line.strip())
    return "\n".join(lines)


def entry(name: str) -> str:
    """Return the part of a page about a public name, with its methods."""
    thing = getattr(paraloom, name)
    parts = [f"### {name}", f"```python\n{signature(name, thing)}\n```", described(thing)]
    for method, called in (("__call__", name.lower()), ("translate", "translator.translate")):
        own = vars(thing).get(method) if inspect.isclass(thing) else None
        if own is not None:
            parts += [f"```python\n{signature(called, own)}\n```", described(own)]
    return "\n\n".join(parts) + "\n"


def names() -> str:
    """Return the public names of the library with their parameters."""
    return "\n".join(map(entry, NAMES))


def subcommands() -> str:
    """Return the subcommands, each with its line of help."""
    width = max(map(len, ENTRIES))
    lines = [f"{name:{width}}  {each.help}\n" for name, each in sorted(ENTRIES.items())]
    return "```\n" + "".join(lines) + "```\n"


LISTS = {"library.md": names, "command.md": subcommands}


def on_page_markdown(markdown: str, *, page: Page, **settings: Any) -> str:
    """Put the list of a page in place of its mark."""
    made = LISTS.get(page.file.src_uri)
    return markdown.replace(MARK, made()) if made else markdown
