"""Make the outputs that README and docs show anew: python -m tests.outputs, after `make demo`.

An output is a block without a language below one of Python, which is run: in one process for a
page, where the runs of the clone are. `# not run here` in a block leaves it and its page alone.
"""

import contextlib
import io
import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", ROOT / "docs" / "library.md")
DEMO = "runs/demo"
_NOT_RUN = "# not run here"
_BLOCK = re.compile(r"(?m)^```python\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?", re.DOTALL)
_NUMBER = re.compile(r"\b\d\.\d\d\b")
_NEAR = 0.1


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return the Python of a page that is run, and what the page shows of its output."""
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [(code, shown) for code, shown in found if _NOT_RUN not in code]


def outputs(page: Path, folder: Path) -> list[str]:
    """Return what the blocks of a page print in a folder, which has the run of the demo."""
    scope: dict[str, object] = {}
    printed = []
    with contextlib.chdir(folder):
        for code, _ in blocks(page):
            with contextlib.redirect_stdout(io.StringIO()) as said:
                exec(code, scope)
            printed.append(said.getvalue())
    return printed


def made_anew(page: Path, folder: Path) -> str:
    """Return the text of a page with the outputs that its blocks have now."""
    printed = iter(outputs(page, folder))

    def anew(found: re.Match[str]) -> str:
        if _NOT_RUN in found[1]:
            return found[0]
        output = next(printed)
        if found[2] is None:
            return found[0]
        begin, end = (place - found.start() for place in found.span(2))
        return found[0][:begin] + output + found[0][end:]

    return _BLOCK.sub(anew, page.read_text(encoding="utf-8"))


def same(shown: str, printed: str) -> bool:
    """Tell whether most lines of what is shown are printed, with numbers that are near.

    8-bit products are coarser on CPUs without VNNI, so one line or another is elsewhere.
    """
    before, now = _lines(shown), _lines(printed)
    common = before.keys() & now.keys()
    return len(common) >= len(before) / 2 and all(
        abs(one - other) <= _NEAR
        for line in common
        for one, other in zip(before[line], now[line], strict=True)
    )


def _lines(text: str) -> dict[str, list[float]]:
    """Return the numbers of each line, by the line without them."""
    lines = text.splitlines()
    return {
        _NUMBER.sub("", line): [float(each) for each in _NUMBER.findall(line)] for line in lines
    }


if __name__ == "__main__":
    if not (ROOT / DEMO / "release" / "manifest.json").exists():
        raise SystemExit(
            f"README.md shows what `make demo` made, and {DEMO} is not finished: run it"
        )
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for each in PAGES:
        each.write_text(made_anew(each, ROOT), encoding="utf-8")
