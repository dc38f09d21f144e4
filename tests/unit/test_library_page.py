"""docs/library.md has every public name with all its parameters, and its code runs."""

import inspect
import re
from types import SimpleNamespace

import pytest

import paraloom
from tests import outputs
from tests.configs import ROOT
from tests.packages import STUDENTS, require_packages

PAGE = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")


def test_every_public_name_has_its_place(site_lists):
    assert {*site_lists.NAMES} == {*paraloom.__all__} - {"__version__"}


def test_the_site_lists_them_with_all_their_parameters(site_lists):
    shown = site_lists.on_page_markdown(
        PAGE, page=SimpleNamespace(file=SimpleNamespace(src_uri="library.md"))
    )
    assert site_lists.MARK not in shown
    for name in site_lists.NAMES:
        (part,) = re.findall(rf"^### {name}\n(.*?)(?=^### |\Z)", shown, re.MULTILINE | re.DOTALL)
        thing = getattr(paraloom, name)
        if name not in ("Paraphrases", "Translations") and not name.endswith("Error"):
            for parameter in inspect.signature(thing).parameters:
                assert f"- `{parameter}`: " in part, f"{name}: {parameter}"


@pytest.mark.slow
def test_the_examples_of_the_page_give_what_it_shows():
    require_packages(STUDENTS)
    page = ROOT / "docs" / "library.md"
    shown = [output for _, output in outputs.blocks(page)]
    printed = outputs.outputs(page, ROOT)
    assert shown[0]
    pairs = [pair for pair in zip(shown, printed, strict=True) if pair[0]]
    assert all(outputs.same(*pair) for pair in pairs), pairs
