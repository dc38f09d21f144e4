import pytest

from workflow_scripts.testbed import spelling


@pytest.mark.parametrize(
    ("word", "plural"),
    [("book", "books"), ("box", "boxes"), ("city", "cities"), ("boy", "boys"),
     ("church", "churches"), ("potato", "potatoes"), ("photo", "photos"), ("glass", "glasses"),
     ("try", "tries")],
)  # fmt: skip
def test_with_s(word, plural):
    assert spelling.with_s(word) == plural


@pytest.mark.parametrize(
    ("word", "past", "gerund"),
    [
        ("repair", "repaired", "repairing"),
        ("move", "moved", "moving"),
        ("spot", "spotted", "spotting"),
        ("visit", "visited", "visiting"),
        ("admit", "admitted", "admitting"),
        ("carry", "carried", "carrying"),
        ("destroy", "destroyed", "destroying"),
        ("fix", "fixed", "fixing"),
        ("lie", "lied", "lying"),
        ("agree", "agreed", "agreeing"),
        ("offer", "offered", "offering"),
        ("clean", "cleaned", "cleaning"),
    ],
)
def test_with_ed_and_ing(word, past, gerund):
    assert spelling.with_ed(word) == past
    assert spelling.with_ing(word) == gerund


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


@pytest.mark.parametrize(
    ("word", "article"),
    [("teacher", "a"), ("apple", "an"), ("hour", "an"), ("honest", "an"), ("useful", "a"),
     ("unhappy", "an"), ("house", "a"), ("uniform", "a"), ("umbrella", "an"), ("island", "an"),
     ("Anna", "an")],
)  # fmt: skip
def test_article(word, article):
    assert spelling.article(word) == article
