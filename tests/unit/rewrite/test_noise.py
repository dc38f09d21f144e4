"""Damage on what a rewriter reads: each is one, stands where it is said to, is drawn as asked."""

from collections import Counter
from itertools import pairwise

import pytest

from workflow_scripts.plan.catalogues.rewriters import ENGLISH, KINDS, TYPING, kinds_of, noise
from workflow_scripts.stages.rewrite.keyboards import neighbours
from workflow_scripts.stages.rewrite.noising import damage, damage_once, is_word, known
from workflow_scripts.stages.rewrite.training_pairs import noisy
from workflow_scripts.testbed.checker import Checker
from workflow_scripts.testbed.noise import clean

SENTENCE = (
    "Yesterday she was reading an article about these animals, and Peter asked her to explain it."
)
HOSTILE = [
    "",
    " ",
    "   ",
    "...",
    "?!",
    "a",
    "A",
    "x" * 10_000,
    "word " * 3_000,
    "12 345 a1b2 3.5%",
    "http://example.org/the/table www.example.org me@example.org #table @table",
    "C:\\table\\chair /usr/bin/table a=b <b>table</b>",
    "e\u0301te\u0301 na\u00efve \u200btable\u200b",
    "\ud800 lone surrogate",
    "\u6211\u4eec\u660e\u5929\u53bb\u5b66\u6821\u3002",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645",
    "tab\there\u00a0and nbsp",
    "\U0001f600 smile \U0001f1e9\U0001f1ea",
    "\u00df \u0130 \u01c5ungla \ufb01ne",
    "don't isn't o'clock well-known",
]


def settings(**changes):
    weights = changes.pop("weights", dict.fromkeys(KINDS, 1.0))
    return {"clean": 0.0, "most": 1, "copies": 1, "identity": 0.5, "weights": weights, **changes}


def sentences(count, first=500_000):
    return [(str(index), clean(1, index, 1)[0].reference) for index in range(first, first + count)]


def undone(damaged, sentence):
    """The sentence with the damage that is recorded, put there by hand."""
    parts = sentence.split(" ")
    for change in damaged.damages:
        assert parts[change.place] == change.old
        parts[change.place] = change.new
    return " ".join(
        part
        for place, part in enumerate(parts)
        if part or place not in {change.place for change in damaged.damages}
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_one_damage_where_it_is_recorded(kind):
    damaged = 0
    for identifier, sentence in sentences(60):
        result = damage_once(sentence, "en", kind, 1, identifier)
        if result is None:
            continue
        damaged += 1
        assert [change.kind for change in result.damages] == [kind]
        assert result.text != sentence
        assert undone(result, sentence) == result.text
    assert damaged >= 15


@pytest.mark.slow
@pytest.mark.parametrize("kind", TYPING)
def test_a_typing_error_makes_no_word_and_keeps_the_first_letter(kind):
    results = [damage_once(SENTENCE, "en", kind, seed, "x") for seed in range(200)]
    for result in results:
        old, new = (text.strip(",.") for text in result.damages[0][2:])
        assert not is_word(new, "en"), new
        assert new[0] == old[0] and len(old) >= 3
        expected = {"neighbour": 0, "swap": 0, "omit": -1, "repeat": 1}[kind]
        assert len(new) - len(old) == expected
        if kind == "swap":
            assert sorted(new) == sorted(old)
    assert len({result.text for result in results}) > 10


def test_a_neighbour_lies_beside_the_letter_on_the_keyboard_of_the_language():
    assert set(neighbours("en")["g"]) == set("fhtyvb")
    assert "z" in neighbours("de")["t"] and "y" not in neighbours("de")["t"]
    assert "z" in neighbours("fr")["a"]
    for beside in map(neighbours, ("en", "de", "fr", "ru")):
        assert all(letter in beside[other] for letter, others in beside.items() for other in others)
    for seed in range(50):
        change = damage_once("The government answered.", "en", "neighbour", seed, "x").damages[0]
        changed = [(a, b) for a, b in zip(change.old, change.new, strict=True) if a != b]
        assert len(changed) == 1 and changed[0][1] in neighbours("en")[changed[0][0]]


def test_names_numbers_and_addresses_keep_their_letters():
    text = "Yesterday Johnathan paid 300 at www.shop.org to help@shop.org, room B12 of #building."
    for kind in TYPING:
        for seed in range(60):
            result = damage_once(text, "en", kind, seed, "x")
            assert result.damages[0].old in {"Yesterday", "paid", "room"}, result


def test_the_case_of_names_of_the_start_and_of_other_words():
    texts = {damage_once(SENTENCE, "en", "case", seed, "x").damages[0].new for seed in range(300)}
    assert {"yesterday", "peter"} <= texts
    assert {"Was", "Reading", "Article", "About", "Animals,"} <= texts
    # In a title nothing is wrong, and "May" is another word.
    assert damage_once("IT IS WRONG", "en", "case", 1, "x") is None
    assert damage_once("The Lord Of The Rings", "en", "case", 1, "x") is None
    news = {
        damage_once("we went home in may", "en", "case", seed, "x").damages[0].new
        for seed in range(99)
    }
    assert "May" not in news


# What each kind makes of a sentence.
WRONG = {
    "verb": {
        "He goes home.": {"He go home."},
        "They go home.": {"They goes home."},
        "The man likes tea.": {"The man like tea."},
        "I am here.": {"I is here."},
        "I have time.": {"I has time."},
        "The women were here.": {"The women was here."},
        "She is here.": {"She are here."},
        # "Runs" may be a noun after a noun, so that nobody is sure.
        "The night runs end.": set(),
        "If she was here.": set(),
        "They had gone.": set(),
        "I gave you time.": set(),
        "Which is better?": set(),
        "The police is here.": set(),
        "He put it there.": set(),
        "They can go.": set(),
    },
    "determiner": {
        "He ate an apple.": {"He ate a apple.", "He ate an apples."},
        "He ate a pear.": {"He ate an pear.", "He ate a pears."},
        "We saw a university.": {"We saw a universities."},
        "We saw this table.": {"We saw these table."},
        "We saw these tables.": {"We saw this tables.", "We saw these table."},
        "We saw nine tables.": {"We saw nine table."},
        "A table is here.": {"An table is here.", "A tables is here."},
        "This will be good.": set(),
        "This cost money.": set(),
        "Two sheep came.": set(),
        "The tables came.": set(),
    },
    "drop": {
        "He bought a table.": {"He bought table."},
        "He is eating.": {"He eating."},
        "The top of the table.": {"The top the table."},
        "He wants to eat.": {"He wants eat."},
        "She looked at him.": {"She looked him."},
        "The tea and the milk.": {"The tea the milk."},
        # Without it the sentence is right, or tells something else that is.
        "All of the tables.": set(),
        "They help to eat.": set(),
        "He gave it to teachers.": set(),
        "The man was killed.": set(),
        "He drank a coffee.": set(),
        "He bought the table.": set(),
        "He will not come.": set(),
        # The capital would go with the first word, the full stop with the last one.
        "A table stood there.": set(),
        "That is what it is.": {"That what it is."},
    },
}


@pytest.mark.parametrize("kind", WRONG)
def test_words_that_make_a_sentence_wrong(kind):
    assert {sentence: all_of(sentence, kind) for sentence in WRONG[kind]} == WRONG[kind]


def all_of(sentence, kind):
    """What a kind makes of a sentence, by many seeds."""
    results = (damage_once(sentence, "en", kind, seed, "x") for seed in range(60))
    return {result.text for result in results if result}


def test_a_word_that_may_stand_twice_is_not_doubled():
    assert all_of("He had very nice tables.", "double") == {
        "He He had very nice tables.",
        "He had very nice tables tables.",
    }


@pytest.mark.slow
def test_on_the_testbed_no_damage_but_one_of_case_leaves_a_sentence():
    """The grammar of the testbed knows the sentences that are right; it does not look at case."""
    checker = Checker()
    checked = Counter()
    for identifier, sentence in sentences(150):
        for kind in KINDS:
            result = damage_once(sentence, "en", kind, 1, identifier)
            if result and kind != "case":
                checked[kind] += 1
                assert not checker.parse(result.text), result
    assert all(checked[kind] >= 40 for kind in KINDS if kind != "case"), checked


@pytest.mark.rest
def test_shares_are_those_that_are_asked_for():
    weights = {"neighbour": 1.0, "omit": 2.0, "double": 1.0}
    asked = settings(clean=0.25, most=3, weights=weights)
    text = "The government announced another important decision about schools yesterday evening."
    results = [damage(text, "en", asked, 1, index) for index in range(4000)]
    numbers = Counter(len(result.damages) for result in results)
    assert numbers[0] / 4000 == pytest.approx(0.25, abs=0.03)
    for number in (1, 2, 3):
        assert numbers[number] / 4000 == pytest.approx(0.25, abs=0.03)
    kinds = Counter(change.kind for result in results for change in result.damages)
    assert kinds["omit"] / kinds.total() == pytest.approx(0.5, abs=0.03)
    assert kinds["double"] / kinds.total() == pytest.approx(0.25, abs=0.03)


@pytest.mark.slow
def test_damaged_words_stand_apart():
    for index in range(300):
        places = [
            change.place for change in damage(SENTENCE, "en", settings(most=9), 1, index).damages
        ]
        assert all(after - before > 1 for before, after in pairwise(places))


def test_a_sentence_is_damaged_by_its_keys_alone():
    texts = dict(sentences(40))
    one = {key: damage(text, "en", settings(), 7, key) for key, text in texts.items()}
    other = {key: damage(texts[key], "en", settings(), 7, key) for key in reversed(texts)}
    assert one == other
    assert one != {key: damage(text, "en", settings(), 8, key) for key, text in texts.items()}


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "cs", "de", "ru", "zh"])
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_gets_recorded_damage_or_none(text, language):
    weights = dict.fromkeys(kinds_of(language), 1.0)
    for index in range(4):
        result = damage(text, language, settings(most=3, weights=weights), 1, index)
        assert undone(result, text) == result.text


def test_czech_without_a_dictionary_has_the_kinds_of_every_language():
    text = "Vedle letiště bude Petr stavět devět stolů."
    assert not known("cs")
    for kind in kinds_of("cs"):
        result = damage_once(text, "cs", kind, 1, "x")
        assert result.damages[0].old != "Petr" or kind in ("case", "double")
    assert not set(kinds_of("cs")) & set(ENGLISH)


def test_german_has_a_dictionary():
    assert is_word("Haus", "de") and not is_word("Hasu", "de")
    assert damage_once("Ich sehe den Baum dort.", "de", "swap", 1, "x").text


def test_weights_are_those_of_the_language_unless_they_are_named():
    def config(block, language="en"):
        return {
            "seed": 1,
            "languages": {"reference": {"code": language}},
            "rewriters": {"plain": {"training_sets": ["all"], "model": "small", "noise": block}},
        }

    assert noise(config(None), "plain") is None
    assert noise(config({}), "plain")["weights"] == dict.fromkeys(KINDS, 1.0)
    assert set(noise(config({}, "cs"), "plain")["weights"]) == set(KINDS) - set(ENGLISH)
    assert noise(config({"weights": {"swap": 2, "verb": 0}}), "plain")["weights"] == {"swap": 2.0}


def test_rows_are_damaged_on_the_side_that_is_read_alone():
    read, written = "She is reading an article.", "She reads some text."
    row = {"id": "a:1-x", "source": read, "reference": written, "corpus": "train"}
    counts = Counter()
    rows = list(noisy(row, 400, "en", settings(clean=0.3, identity=0.25), 1, counts))
    assert len({copy["id"] for copy in rows}) == 400
    assert {copy["reference"] for copy in rows} == {read, written}
    same = sum(copy["reference"] == read for copy in rows)
    assert same / 400 == pytest.approx(0.25, abs=0.07)
    left = sum(copy["source"] == read for copy in rows)
    assert left == counts["clean"] and left / 400 == pytest.approx(0.3, abs=0.08)
    assert counts.total() == 400 and set(counts) == {"clean", *KINDS}
    assert (
        list(noisy(row, 3, "en", settings(), 1, Counter()))
        == list(noisy(row, 9, "en", settings(), 1, Counter()))[:3]
    )
    for share, texts in ((0.0, {written}), (1.0, {read})):
        copies = noisy(row, 50, "en", settings(identity=share), 1, Counter())
        assert {copy["reference"] for copy in copies} == texts
