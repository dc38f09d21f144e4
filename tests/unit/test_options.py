"""The tables of options in docs are what the schema says."""

import pytest

from tests.options import DOCS, MARKED, made_anew

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
        "rewrite-kinds": [*("rewriters.*.noise", "rewriters.*.templates"), "systems.*.rewriter"],
        "testbed": ["corpora.*.testbed"],
        "transfer": ["transfer"],
    }
