"""The tables of options in docs are what the schema says."""

import pytest

from tests.options import DOCS, MARKED, cells, made_anew, properties_at

MADE = {
    page.stem: [found[2] for found in MARKED.finditer(page.read_text(encoding="utf-8"))]
    for page in sorted(DOCS.glob("*.md"))
}


@pytest.mark.parametrize("name", [name for name, paths in MADE.items() if paths])
def test_the_tables_of_a_page_are_those_of_the_schema(name):
    page = DOCS / f"{name}.md"
    assert page.read_text(encoding="utf-8") == made_anew(page), (
        "the schema was changed: run python -m tests.options"
    )


def test_no_table_lost_its_marks():
    assert {name: paths for name, paths in MADE.items() if paths} == {
        "embed": ["embeddings.*.model", "embeddings.*.training"],
        "encoder": [
            *("encoders.*", "encoders.*.negatives", "encoders.*.training"),
            *("encoders.*.scratch", "encoders.*.scratch.training", "encoder_tasks"),
        ],
        "evaluate": ["evaluate.syntax"],
        "filter": ["outside.*", "training_sets.*"],
        "generate": ["systems.*.sources"],
        "lexicon": ["lexicons.*", "evaluate.lexicons"],
        "rewrite": ["rewriters.*", "rewriters.*.continued"],
        "rewrite-kinds": [
            *("rewriters.*.noise", "rewriters.*.templates"),
            "systems.*.rewriter",
        ],
        "testbed": ["corpora.*.testbed"],
        "transfer": ["transfer"],
    }


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"description": "Of Adam", "default": 0.1}, ("0.1", "Of Adam")),
        ({"description": "Its order; left out: the run's"}, ("the run's", "Its order")),
        ({"description": "Of run.systems", "default": ["a"]}, ("`[a]`", "Of `run.systems`")),
        (
            {"description": "See docs/rewrite-kinds.md", "default": None},
            ("null", "See [rewrite-kinds](rewrite-kinds.md)"),
        ),
    ],
)
def test_a_row(node, expected):
    assert cells("key", node) == ("`key`", *expected)


def test_a_block_that_may_be_null_has_its_keys():
    assert list(properties_at("evaluate.syntax")) == ["folder", "package", "levels", "share"]
