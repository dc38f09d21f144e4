"""Make the list of public names in docs/library.md anew from docstrings: python -m tests.library.

It stands between `<!-- library -->` and `<!-- /library -->`.
"""

import inspect
import re
from pathlib import Path
from typing import Any

import paraloom

PAGE = Path(__file__).resolve().parents[1] / "docs" / "library.md"
MARKED = re.compile(r"(<!-- library -->\n).*?(<!-- /library -->\n)", re.DOTALL)
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


def made_anew(page: Path = PAGE) -> str:
    """Return the text of the page with its names as the docstrings have them now."""
    names = "\n".join(map(entry, NAMES))
    return MARKED.sub(
        lambda found: f"{found[1]}\n{names}\n{found[2]}", page.read_text(encoding="utf-8")
    )


if __name__ == "__main__":
    PAGE.write_text(made_anew(), encoding="utf-8")
