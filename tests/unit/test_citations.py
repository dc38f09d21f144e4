"""Sections and tables of the papers that docs and code name: the papers have them."""

import re
from pathlib import Path

import pytest

from tests.configs import ROOT

# Sections and the number of tables of each paper, as printed.
PAPERS = {
    "bt2017": ("1 2 3 4 4.1 4.2 5 5.1 5.2 5.3 5.4 5.5 5.6 5.6.1 5.7 5.8 6", 13),
    "paranmt": ("1 2 3 3.1 3.2 4 5 5.1 5.2 5.3 5.4 5.5 5.6 6 7 8", 12),
    "parabank": ("1 2 2.1 2.2 2.3 2.4 3 3.1 3.2 4 5 5.1 5.2 5.3 5.4 5.5 6 7", 7),
    "parabank2": ("1 2 2.1 2.2 2.3 3 3.1 3.2 3.3 3.4 3.5 3.6 3.7 3.8 4 4.1 4.2 4.3 5", 6),
}
# What docs and code call them.
_NAMES = {
    "BT17": "bt2017",
    r"Wieting et al\. \(?2017\)?": "bt2017",
    "PNMT": "paranmt",
    "ParaNMT(?:-50M)?": "paranmt",
    "PB2": "parabank2",
    "ParaBank 2(?:'s)?": "parabank2",
    "PB": "parabank",
    "ParaBank(?:'s)?(?! 2)": "parabank",
}
_SECTION = r"(?:,? (?:sections? )?|, )\(?(\d\.\d(?:\.\d)?)\b(?!\d*%)"
_TABLE = r",? Tables? (\d+)\b"
FILES = [
    path
    for folder, pattern in (
        *(("docs", "*.md"), ("reports", "*.md"), ("workflow_scripts", "**/*.py")),
        ("workflow_scripts", "**/*.j2"),
        *(("recipes", "**/*.yaml"), ("tests", "**/*.py"), (".", "config.yaml")),
    )
    for path in sorted((ROOT / folder).glob(pattern))
    if path != Path(__file__).resolve()
]


def cited(text):
    """Yield each paper with a section, and with a table, that a text names next to it."""
    for name, paper in _NAMES.items():
        for kind, pattern in (("section", _SECTION), ("table", _TABLE)):
            for found in re.finditer(rf"\b{name}{pattern}", text):
                yield paper, kind, found[1]


def wrong(text):
    """Return what a text cites and the papers don't have."""
    return [
        (paper, kind, number)
        for paper, kind, number in cited(text)
        if (kind == "section" and number not in PAPERS[paper][0].split())
        or (kind == "table" and not 1 <= int(number) <= PAPERS[paper][1])
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(ParaNMT, section 4.3)", [("paranmt", "section", "4.3")]),
        ("the paraphrase score (PNMT 3.3)", [("paranmt", "section", "3.3")]),
        ("(ParaBank 2, 3.9)", [("parabank2", "section", "3.9")]),
        ("(ParaBank, Table 8)", [("parabank", "table", "8")]),
        ("(BT17 5.6.1), PB2 3.7, (ParaBank, 5.3), ParaBank 2, Table 6", []),
    ],
)
def test_a_section_that_no_paper_has_is_found(text, expected):
    assert wrong(text) == expected


@pytest.mark.slow
def test_enough_is_cited_for_the_test_to_mean_something():
    assert sum(len(list(cited(path.read_text(encoding="utf-8")))) for path in FILES) > 100


@pytest.mark.slow
def test_docs_and_code_cite_sections_and_tables_that_the_papers_have():
    found = {
        path.relative_to(ROOT).as_posix(): each
        for path in FILES
        if (each := wrong(path.read_text(encoding="utf-8")))
    }
    assert found == {}
