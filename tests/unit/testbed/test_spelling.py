import pytest

from workflow_scripts.testbed import spelling

FORMS = {
    spelling.with_s: """
book books | box boxes | city cities | boy boys | church churches | potato potatoes | photo photos
glass glasses | try tries
""",
    spelling.with_ed: """
repair repaired | move moved | spot spotted | visit visited | admit admitted | carry carried
destroy destroyed | fix fixed | lie lied | agree agreed | offer offered | clean cleaned
""",
    spelling.with_ing: """
repair repairing | move moving | spot spotting | visit visiting | admit admitting | carry carrying
destroy destroying | fix fixing | lie lying | agree agreeing | offer offering | clean cleaning
""",
    spelling.article: """
teacher a | apple an | hour an | honest an | useful a | unhappy an | house a | uniform a
umbrella an | island an | Anna an
""",
}
KNOWN = [
    pytest.param(make, *entry.split(), id=f"{make.__name__}-{entry.replace(' ', '-')}")
    for make, text in FORMS.items()
    for entry in " | ".join(text.strip().splitlines()).split(" | ")
]


@pytest.mark.parametrize(("make", "word", "form"), KNOWN)
def test_known_forms(make, word, form):
    assert make(word) == form


@pytest.mark.parametrize(
    ("word", "comparative", "superlative"),
    [
        ("big", "bigger", "biggest"),
        ("large", "larger", "largest"),
        ("happy", "happier", "happiest"),
        ("simple", "simpler", "simplest"),
        ("famous", "more famous", "most famous"),
        ("well-liked", "more well-liked", "most well-liked"),
        ("weak", "weaker", "weakest"),
    ],
)
def test_compared(word, comparative, superlative):
    assert spelling.compared(word) == (comparative, superlative)
