import pytest

from workflow_scripts.stages.select.near_doubles import content_key


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("I forgot my umbrella in the office.", "I Forgot my umbrella in an office!"),
        ("Could you send me the report?", "Could you send me report"),
        ("Please turn off the lights.", "Please turn turn off the lights."),
        ("I'm tired.", "I am tired."),
        ("Tom’s dog", "Tom's dog."),
    ],
)
def test_near_doubles_have_one_key(text, other):
    assert content_key(text, "en") == content_key(other, "en")


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("He received the report.", "He got the report."),
        ("Tom saw Ann.", "Ann saw Tom."),
        ("What is it?", "Who is it?"),
    ],
)
def test_others_have_two(text, other):
    assert content_key(text, "en") != content_key(other, "en")


def test_of_other_languages_all_words_count():
    assert content_key("O gato dorme.", "pt") != content_key("Um gato dorme.", "pt")
    assert content_key("O gato dorme.", "pt") == content_key("o gato, dorme", "pt")
