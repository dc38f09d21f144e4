import functools
import re

import pytest

from workflow_scripts.testbed.czech_sentence import source
from workflow_scripts.testbed.meaning import meaning
from workflow_scripts.testbed.structure import Clause, Meaning, NounPhrase, Place, Relative


@functools.cache
def sentences():
    return [source(meaning(1, index)) for index in range(3000)]


TEACHER, LETTER, WOMAN = NounPhrase("teacher"), NounPhrase("letter"), NounPhrase("woman")
GARDEN = Place("in", NounPhrase("garden"))


def pronoun(head):
    return NounPhrase(head, "pronoun", determiner=None)


def name(head):
    return NounPhrase(head, "name", determiner=None)


def sentence(*clause, mood="statement", connective=None, subordinate=None, **slots):
    return source(Meaning(mood, Clause(*clause, **slots), connective, subordinate))


@pytest.mark.parametrize(
    ("tense", "negative", "expected"),
    [
        ("past", False, "Učitel podepsal dopis."),
        ("past_progressive", False, "Učitel podepisoval dopis."),
        ("present", False, "Učitel podepisuje dopis."),
        ("present", True, "Učitel nepodepisuje dopis."),
        ("future", False, "Učitel podepíše dopis."),
        ("future", True, "Učitel nepodepíše dopis."),
        ("must", True, "Učitel nemusí podepsat dopis."),
        ("can", False, "Učitel může podepsat dopis."),
    ],
)
def test_tense_and_aspect(tense, negative, expected):
    assert sentence("transitive", TEACHER, "sign", tense, negative, LETTER) == expected


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (WOMAN, "Žena podepsala dopis."),
        (NounPhrase("woman", number="plural"), "Ženy podepsaly dopis."),
        (NounPhrase("teacher", number="plural"), "Učitelé podepsali dopis."),
        (NounPhrase("puppy"), "Štěně podepsalo dopis."),
        (NounPhrase("woman", "noun", "plural", "three"), "Tři ženy podepsaly dopis."),
        (NounPhrase("woman", "noun", "plural", "five"), "Pět žen podepsalo dopis."),
        (NounPhrase("teacher", determiner="a"), "Nějaký učitel podepsal dopis."),
        (NounPhrase("woman", determiner="this"), "Tato žena podepsala dopis."),
        (NounPhrase("woman", determiner="my"), "Moje žena podepsala dopis."),
        (name("Jane"), "Jana podepsala dopis."),
        (pronoun("someone"), "Někdo podepsal dopis."),
        (pronoun("he"), "On podepsal dopis."),
        (pronoun("they"), "Oni podepsali dopis."),
        (pronoun("I"), "Podepsal jsem dopis."),
        (pronoun("you"), "Podepsali jste dopis."),
        (pronoun("we"), "Podepsali jsme dopis."),
    ],
)
def test_subject_and_agreement(subject, expected):
    assert sentence("transitive", subject, "sign", "past", object=LETTER) == expected


def test_government():
    assert sentence("transitive", TEACHER, "help", "past", object=WOMAN) == "Učitel pomohl ženě."
    gift = {"object": LETTER, "recipient": name("Peter")}
    assert sentence("ditransitive", WOMAN, "give", "past", **gift) == "Žena dala Petrovi dopis."


def test_clitics_stand_second():
    assert sentence("intransitive", TEACHER, "laugh", "present") == "Učitel se směje."
    assert sentence("intransitive", pronoun("we"), "laugh", "past") == "Zasmáli jsme se."
    yesterday = sentence("intransitive", pronoun("we"), "laugh", "past", time="yesterday")
    assert yesterday == "Včera jsme se zasmáli."
    asked = sentence("intransitive", TEACHER, "laugh", "must", mood="question")
    assert asked == "Musí se učitel zasmát?"
    why = Clause("intransitive", TEACHER, "laugh", "past")
    because = sentence(
        "intransitive", WOMAN, "shout", "past", connective="because", subordinate=why
    )
    assert because == "Žena zakřičela, protože se učitel zasmál."


def test_noun_phrases():
    book = NounPhrase("book", determiner=None, adjective="old", possessor=name("Jane"))
    assert sentence("transitive", TEACHER, "find", "past", object=book) == (
        "Učitel našel starou knihu Jany."
    )
    sleeping = NounPhrase("woman", relative=Relative("sleep", False, None, GARDEN))
    assert sentence("transitive", sleeping, "sign", "future", object=LETTER) == (
        "Žena, která spí na zahradě, podepíše dopis."
    )
    assert sentence("transitive", TEACHER, "see", "present", object=sleeping) == (
        "Učitel vidí ženu, která spí na zahradě."
    )


def test_other_frames():
    assert sentence("copular", WOMAN, "be", "past", quality="tired", degree="very") == (
        "Žena byla velmi unavená."
    )
    assert sentence("copular", WOMAN, "be", "present", True, quality="tired") == (
        "Žena není unavená."
    )
    dogs = NounPhrase("dog", "noun", "plural", "five")
    assert sentence("existential", dogs, "be", "present", place=GARDEN) == (
        "Na zahradě je pět psů."
    )
    school = Place("to", NounPhrase("school"))
    assert sentence("motion", WOMAN, "hurry", "present", goal=school) == "Žena spěchá do školy."


def test_moods_and_clauses():
    assert sentence("transitive", TEACHER, "sign", "past", object=LETTER, mood="question") == (
        "Podepsal učitel dopis?"
    )
    confirmed = sentence("transitive", TEACHER, "sign", "past", object=LETTER, mood="confirmation")
    assert confirmed == "Učitel podepsal dopis, že?"
    later = Clause("intransitive", WOMAN, "laugh", "eventual")
    when = {"connective": "when", "subordinate": later}
    assert sentence("transitive", TEACHER, "sign", "future", object=LETTER, **when) == (
        "Učitel podepíše dopis, až se žena zasměje."
    )


def test_punctuation_of_all():
    for text in sentences():
        assert text[0].isupper()
        assert text[-1] in ".?"
        assert not re.search(r",,| ,|,[.?]|  |[.?].", text), text


def test_only_czech_letters():
    """The clean stage keeps what encodes in latin-2."""
    assert all(text.encode("iso8859-2") for text in sentences())
