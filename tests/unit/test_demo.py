"""The demo's sentences are what demo/README.md says."""

import re

import pytest

from tests.configs import ROOT
from tests.packages import loaded

FOLDER = ROOT / "demo"
README = (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def picking():
    """The program that picked them."""
    return loaded(FOLDER / "pick.py")


def pairs(name):
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines]


def test_files_are_those_of_the_readme(picking):
    said = re.findall(r"^\| `(\S+)` \| ([\d,]+) \|", README, re.MULTILINE)
    assert {name: int(count.replace(",", "")) for name, count in said} == picking.SIZES
    assert {name: len(pairs(name)) for name in picking.SIZES} == picking.SIZES
    assert sum((FOLDER / name).stat().st_size for name in picking.SIZES) < 300_000


def test_no_sentence_stands_twice_not_in_the_held_out_pairs_either(picking):
    found = [pair for name in picking.SIZES for pair in pairs(name)]
    assert picking.usable(found) == found
    assert all(4 <= len(english.split()) <= 15 for _, english in found)


def test_whoever_wrote_them_is_named():
    for text in (README, (ROOT / "NOTICE").read_text(encoding="utf-8")):
        assert "Tatoeba" in text and "CC BY 2.0 FR" in text


def test_the_same_pairs_are_picked_again(picking, data_dir):
    text = (data_dir / "tatoeba_tests" / "por-eng.tsv").read_text(encoding="utf-8")
    lines = [tuple(line.split("\t")) for line in text.splitlines()]
    assert picking.pick(lines, 1) == {name: pairs(name) for name in picking.SIZES}


def test_case_and_punctuation_make_no_other_sentence(picking):
    first, again = ("Olá, tudo bem?", "Hello, how are you?"), ("Oi.", "hello how are YOU")
    assert picking.usable([first, again, ("Longe.", "Far away"), ("Ž.", "A b c d ž")]) == [first]
