"""How words are found in texts, and the pieces that write them."""

from itertools import product

import pytest

from workflow_scripts.nmt.vocabulary import BOS, SYMBOLS, Vocabulary
from workflow_scripts.stages.rewrite import spellings
from workflow_scripts.stages.rewrite.spellings import capitals, every_segmentation, forms_of, holds


@pytest.mark.parametrize(
    ("text", "phrase", "expected"),
    [
        *[("The dog sleeps.", "dog", True), ("DOG!", "dog", True), ("A hot-dog.", "dog", True)],
        *[("The dogma.", "dog", False), ("underdog", "dog", False)],
        ("He gives it  up.", "it up", True),
        ("\u0915\u093f\u0924\u093e\u092c", "\u0915\u093f\u0924", False),  # the vowel sign goes on
        *[("The dog", "<s> the", True), ("See the dog", "<s> the", False)],
        *[('"The dog', "<s> the", True), ("See (the dog", "<s> the", False)],
        *[("C++ is old", "c++", True), ("Stra\u00dfe", "STRASSE", True)],
        *[("He didn't go.", "didn\u2019t", True), ("He didn\u2019t go.", "didn't", True)],
        *[("A co-op.", "co\u2011op", True), ("The _dog_.", "dog", True)],
        *[("The dog.", "d\u00ado\u200bg", True), ("The dog.", "\uff24\uff4f\uff47", True)],
        ("\u9ed2\u732b\u304c\u3044\u308b", "\u732b", True),  # no blanks between words
        ("\u0e41\u0e21\u0e27\u0e14\u0e33", "\u0e41\u0e21\u0e27", True),
    ],
)
def test_words_are_found_in_whatever_case(text, phrase, expected):
    assert holds(text, phrase) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("I can't go.", False), ("I can go.", True), ("Can\u2019t he? He can.", True)],
)
def test_a_word_to_use_is_not_there_in_its_negation(text, expected):
    assert holds(text, "can", affirmed=True) is expected
    assert holds(text, "can")


def test_each_word_of_a_phrase_may_have_a_capital():
    assert set(capitals("get more")) == {"get more", "Get more", "get More", "Get More"}
    assert set(capitals("<s> get NASA")) == {
        f"<s> {get} {nasa}" for get in ("get", "Get") for nasa in ("NASA", "nasa", "Nasa")
    }
    assert capitals("a phrase of five words") == ["a phrase of five words"]


def test_a_word_without_blanks_is_written_without_a_mark_too():
    vocabulary = Vocabulary([*SYMBOLS, "\u2581\u732b", "\u732b", "\u2581"])
    assert set(every_segmentation("\u732b", vocabulary)) == {(4,), (6, 5), (5,)}


def test_every_way_to_write_a_word_is_found():
    pieces = ["▁", "a", "b", "c", "▁a", "ab", "▁ab", "bc", "▁A", "abc"]
    vocabulary = Vocabulary([*SYMBOLS, *pieces])
    written = {tuple(vocabulary.pieces(way)) for way in every_segmentation("abc", vocabulary)}
    expected = {
        way
        for length in range(1, 5)
        for way in product(pieces, repeat=length)
        if "".join(way) in ("▁abc", "▁Abc")
    }
    assert written == expected
    lengths = [len(way) for way in every_segmentation("abc", vocabulary)]
    assert lengths[: len(lengths) - 2] == sorted(lengths[: len(lengths) - 2])


def test_a_phrase_at_the_start_stays_there():
    vocabulary = Vocabulary([*SYMBOLS, "▁a", "▁b"])
    assert every_segmentation("<s> a b", vocabulary) == [(BOS, 4, 5)]


def test_the_ways_of_a_long_word_are_bounded():
    letters = Vocabulary([*SYMBOLS, "▁", *(("a" * n) for n in range(1, 9))])
    ways = every_segmentation("a" * 60, letters)
    assert len(ways) == spellings.MOST_SEGMENTATIONS
    assert len(ways[0]) == 9  # the fewest pieces: the mark, and eight of up to eight letters
    assert len(set(ways)) == len(ways)
    assert {"".join(letters.pieces(way)) for way in ways} == {f"\u2581{'a' * 60}"}
    assert [len(way) for way in ways] == sorted(map(len, ways))


def test_one_word_of_a_phrase_has_another_form():
    forms = {"give": ("give", "gave"), "up": ("up",)}
    assert forms_of("Give up", lambda word: forms[word]) == ["Give up", "gave up"]
