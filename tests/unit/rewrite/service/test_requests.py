"""Requests as JSON: bounds, messages, and texts as they are read."""

import pytest

from workflow_scripts.stages.rewrite.requests import Request, RequestError, clean, request_of


def test_what_is_not_said_is_the_default():
    assert request_of({"text": " A  man.\n"}) == Request("A man.")


def test_words_are_read_as_the_sentence_is():
    request = request_of({"text": "x", "avoid": ["e\u0301t\u0007 a", "\u00e9t a"], "use": ["b"]})
    assert request.avoid == ("\u00e9t a",)
    assert request.use == ("b",)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "key 'text' is missing"),
        ([], "the request must be of the type object"),
        ({"text": 3}, "'text' must be of the type string"),
        ({"text": ""}, "'text' is empty"),
        ({"text": " \x00"}, "'text': there is no sentence"),
        ({"text": "a" * 2001}, "'text' is longer than 2000 characters"),
        ({"text": "a", "avoyd": []}, "unknown key 'avoyd'; did you mean 'avoid'?"),
        ({"text": "a", "avoid": ["b", 3]}, "'avoid'[1] must be of the type string"),
        ({"text": "a", "avoid": ["!"]}, "'avoid' has a word without a letter or digit"),
        ({"text": "a", "use": ["<s>"]}, "'use' has a word without a letter or digit"),
        ({"text": "a", "use": ["b"] * 21}, "'use' has more than 20 entries"),
        ({"text": "a", "number": 0}, "'number' is below 1"),
        ({"text": "a", "at_least": 1.5}, "'at_least' is above 1"),
        ({"text": "a", "at_least": -1}, "'at_least' is below 0"),
        ({"text": "a", "samples": 21}, "'samples' is above 20"),
        ({"text": "a", "samples": True}, "'samples' must be of the type integer"),
        ({"text": "a", "template": 1}, "'template' must be of the type string or null"),
        ({"text": "a\ud800"}, "half of a surrogate pair"),
        ({"text": "a", "id": "\ud800"}, "half of a surrogate pair"),
        ({"text": "a", "use": ["\ufdfa" * 20]}, "'use' has a word of more than 100 letters"),
        ({"text": "a", "system": "\ud800"}, "half of a surrogate pair"),
        ({"text": "\u200b \u00ad\ufeff"}, "'text': there is no sentence"),
        ({"text": "a", "number": 2.5}, "'number' must be of the type integer"),
    ],
)
def test_a_message_names_the_key(value, message):
    with pytest.raises(RequestError) as caught:
        request_of(value)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 200


def test_a_whole_number_may_have_a_point():
    """JSON knows one kind of number; 2.0 is whole."""
    request = request_of({"text": "a", "number": 2.0, "samples": 3.0, "seed": 4.0})
    assert repr((request.number, request.samples, request.seed)) == "(2, 3, 4)"


def test_control_characters_and_line_ends_are_blanks():
    assert clean("a\r\nb\x00c\u2028d") == "a b c d"
