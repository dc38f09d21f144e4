import pytest

from workflow_scripts.stages.score.near_equal import spelt, written_out

EQUAL = [
    ("I am", "I'm"),
    ("I am tired.", "I\u2019m tired!"),
    ("They are not here", "they aren't here"),
    ("He will not come.", "He won't come."),
    ("It cannot be", "It can't be"),
    ("It can not be", "It cannot be"),
    ("We shall not go", "We shan't go"),
    ("It is late", "It's late"),
    ("That is all", "that's all"),
    ("Let us go", "Let's go"),
    ("You have won", "You've won"),
    ("I would go", "I'd go"),
    ("Co-operate, please", "cooperate please"),
]
# They say something else.
APART = [
    ("We were ill", "We're ill"),
    ("I'll go", "Ill go"),
    ("Its tail", "It's tail"),
    ("Tom's here", "Tom is here"),  # it may be a possessive
    ("I am", "I was"),
    ("a cat", "the cat"),
]


@pytest.mark.parametrize(("one", "other"), [*EQUAL, *APART])
def test_nearly_equal_in_english(one, other):
    assert (spelt("en")(one) == spelt("en")(other)) == ((one, other) in EQUAL)


def test_other_languages_have_no_contractions():
    assert spelt("de")("I'm") == spelt("de")("im") != spelt("de")("I am")
    assert spelt("cs")("Ano, prosím!") == spelt("cs")("ano prosím")


def test_contractions_are_written_out():
    assert written_out("She'd said they\u2019ll know what's up") == (
        "she would said they will know what is up"
    )
