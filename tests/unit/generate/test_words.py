import pytest

from workflow_scripts.stages.generate.constraint_words import Word, phrases_of, spellings, words_of


def test_words_lose_the_punctuation_around_them_and_keep_what_is_inside():
    assert words_of('He said: "(Don\'t) well-known 7-Eleven... 3.14 -- é!"') == [
        Word("", "He"),
        Word("", "said"),
        Word('"(', "Don't"),
        Word("", "well-known"),
        Word("", "7-Eleven"),
        Word("", "é"),
    ]


def test_marks_of_other_scripts_belong_to_the_word():
    assert words_of("हिन्दी।") == [Word("", "हिन्दी")]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("for", ["for", "For"]),
        ("For", ["For", "for"]),
        ("NASA", ["NASA", "nasa", "Nasa"]),
        ("McDonald", ["McDonald", "mcdonald", "Mcdonald"]),
    ],
)
def test_spellings(word, expected):
    assert spellings(word, case=True) == expected
    assert spellings(word, case=False) == [word]


def test_phrases_cover_the_word_alone_and_behind_its_punctuation():
    def letters(text):
        return ["▁", *text]

    assert phrases_of([Word("", "a"), Word("(", "b")], False, letters) == {
        "a": {("▁", "a")},
        "b": {("▁", "b"), ("▁", "(", "b")},
    }
