import pytest

from workflow_scripts.stages.score.near_doubles import (
    content_key,
    content_words,
    same_content,
    word_changes,
)

DOUBLES = [
    ("I forgot my umbrella in the office.", "I Forgot my umbrella in an office!"),
    ("Could you send me the report?", "Could you send me report"),
    ("Please turn off the lights.", "Please turn turn off the lights."),
    ("I'm tired.", "I am tired."),
    ("Tom’s dog", "Tom's dog."),
]
OTHERS = [
    ("He received the report.", "He got the report."),
    ("Tom saw Ann.", "Ann saw Tom."),
    ("What is it?", "Who is it?"),
    ("It is not late.", "It is late."),
    ("He has no friends.", "He has friends."),
    ("She can't swim.", "She can swim."),
    ("Wait two minutes.", "Wait three minutes."),
    ("I took the first train.", "I took the second train."),
]


@pytest.mark.parametrize(("text", "other"), [*DOUBLES, *OTHERS])
def test_near_doubles_have_one_key(text, other):
    equal = content_key(text, "en") == content_key(other, "en")
    assert equal == ((text, other) in DOUBLES)


def test_of_other_languages_all_words_count():
    for key in (content_key, same_content, content_words):
        assert key("O gato dorme.", "pt") != key("Um gato dorme.", "pt")
        assert key("O gato dorme.", "pt") == key("o gato, dorme", "pt")
    assert same_content("dorme o gato", "pt") != same_content("o gato dorme", "pt")


def test_order_is_no_content():
    texts = "Tom gave a book to Mary.", "Tom gave Mary the book!", "Mary, Tom gave the book."
    assert len({same_content(text, "en") for text in texts}) == 1
    assert same_content("It isn't here.", "en") != same_content("It is here.", "en")
    # Of function words alone, all of them tell.
    assert same_content("Is it you?", "en") != same_content("What is it?", "en")


@pytest.mark.parametrize(
    ("reference", "paraphrase", "changes"),
    [
        ("There are many houses here.", "There are a lot of houses here.", (1, 0)),
        ("He got the report from Tom.", "He received a report.", (1, 2)),
        ("I'm in an office.", "I am at the office", (0, 0)),
        ("Who is it?", "What's that?", (0, 0)),
        ("I know.", "I don't know.", (1, 0)),
        ("It was red, red.", "Red it was.", (0, 0)),
    ],
)
def test_word_changes_are_counted_on_either_side(reference, paraphrase, changes):
    assert word_changes(reference, paraphrase, "en") == changes
