import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.generate import tokenizer
from workflow_scripts.stages.generate.constraint_words import Word, phrases_of, spellings, words_of
from workflow_scripts.stages.generate.tokenizer import first_tokens, splitter


def test_words_lose_the_punctuation_around_them_and_keep_what_is_inside():
    assert words_of('He said: "(Don\'t) well-known 7-Eleven... 3.14 -- é!"') == [
        Word("", "He"),
        Word("", "said"),
        Word('"(', "Don't"),
        Word("", "well-known"),
        Word("", "7-Eleven"),
        Word("", "é"),
    ]


def test_tokens_of_english_are_spacy_s_with_what_stands_around_them_in_a_word():
    assert words_of("My (mother's) backward-compatible 3.14 don't...", splitter("en")) == [
        Word("", "My"),
        Word("(", "mother", "'s"),
        Word("(mother", "'s"),
        Word("", "backward", "-compatible"),
        Word("backward-", "compatible"),
        Word("", "do", "n't"),
        Word("do", "n't"),
    ]


@pytest.mark.slow
def test_what_stands_between_blanks_has_the_tokens_that_it_has_in_its_sentence(data_dir):
    import spacy

    nlp, split = spacy.blank("en"), splitter("en")
    lines = (data_dir / "newstest_cs_en" / "newstest2013.en").read_text(encoding="utf-8")
    for sentence in map(str.strip, lines.splitlines()):
        tokens = [token.text for token in nlp.make_doc(" ".join(sentence.split()))]
        expected = [token for token in tokens if any(map(str.isalpha, token))]
        assert [word.text for word in words_of(sentence, split)] == expected


@pytest.mark.parametrize("language", [None, "tlh", "ja"])
def test_without_a_tokenizer_words_stand_between_blanks(language):
    assert words_of("(mother's)", splitter(language)) == [Word("(", "mother's")]
    assert first_tokens("(mother's) a", 1, language) == ("(mother's)", "(mother's)")


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, ("Well", "Well")),
        (2, ("Well,", "Well,")),
        (3, ("Well, do", "Well, don't")),
        (4, ("Well, don't", "Well, don't")),
        (6, None),
    ],
)
def test_first_tokens_and_the_rest_of_the_last_one_s_word(count, expected):
    assert first_tokens("Well,  don't.", count, "en") == expected


def test_threads_cut_the_same_tokens():
    texts = [f"can't-{number}-won't" for number in range(2000)]
    expected = list(map(tokenizer.token_ends("en"), texts))
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(tokenizer.token_ends("en"), texts))
    finally:
        sys.setswitchinterval(before)
    assert found == expected


def test_a_missing_spacy_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    tokenizer.token_ends.cache_clear()
    tokenizer.splitter.cache_clear()
    with pytest.raises(InputError, match=r"spaCy is not installed.*make setup"):
        splitter("en")


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
    assert phrases_of([Word("", "a", "'s")], False, letters) == {
        "a": {("▁", "a"), ("▁", "a", "'", "s")}
    }
