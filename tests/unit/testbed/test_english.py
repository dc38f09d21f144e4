import functools
import re
from itertools import pairwise

import pytest

from workflow_scripts.core.seeding import generator
from workflow_scripts.testbed.chart_parser import readings
from workflow_scripts.testbed.english import forest, realisations, reference
from workflow_scripts.testbed.meaning import meaning
from workflow_scripts.testbed.structure import Clause, Meaning, NounPhrase, Place, Relative
from workflow_scripts.testbed.treebank_tokens import tokenised, written
from workflow_scripts.testbed.word_list import article

TEACHER, LETTER = NounPhrase("teacher"), NounPhrase("letter")
STUDENT = NounPhrase("student", determiner="a")


def said(clause: Clause, mood="statement", **more) -> set[str]:
    return {one.text for one in realisations(Meaning(mood, clause, **more))}


def drawn(count, seed=1, first=0):
    for index in range(first, first + count):
        what = meaning(seed, index)
        yield what, reference(what, generator(seed, "test", index))


@functools.cache
def sample():
    return list(drawn(2500))


def tree_words(tree: str) -> list[str]:
    return re.findall(r"\(\S+ ([^()\s]+)\)", tree)


@pytest.mark.slow
def test_parsing_gives_the_meaning_and_the_choices_back():
    for what, one in sample():
        assert (what, one.variations) in {
            (found.meaning, found.variations) for found in readings(one.text)
        }, one.text


@pytest.mark.slow
def test_nearly_unambiguous():
    ambiguous = [one for _, one in sample() if len({r.meaning for r in readings(one.text)}) > 1]
    assert len(ambiguous) <= len(sample()) // 500


@pytest.mark.slow
def test_every_realisation_of_some_meanings_parses_back():
    for index in range(0, 600, 15):
        what = meaning(3, index)
        found = list(realisations(what, 300))
        assert len(found) == min(300, forest(what).count)
        for one in found:
            assert what in {reading.meaning for reading in readings(one.text)}, one.text


@pytest.mark.slow
def test_counts_are_those_of_the_list():
    for index in range(40):
        what = meaning(4, index)
        count = forest(what).count
        if count < 3000:
            assert len(list(realisations(what))) == count


@pytest.mark.slow
def test_draws_are_among_the_realisations():
    checked = 0
    for what, one in sample()[:100]:
        if forest(what).count < 500:
            assert one in set(realisations(what))
            checked += 1
    assert checked > 50


def test_trees_yield_the_tokens():
    for _, one in sample():
        words = tree_words(one.tree)
        assert written(words) == one.text
        assert [word.lower() for word in words] == tokenised(one.text)
        assert one.tree.count("(") == one.tree.count(")")
        assert one.tree.startswith(("(S ", "(SQ ")), one.tree


def test_a_tree_by_hand():
    clause = Clause("transitive", TEACHER, "sign", "future", object=LETTER)
    found = {one.text: one.tree for one in realisations(Meaning("statement", clause))}
    assert found["The teacher will sign the letter."] == (
        "(S (NP (DT The) (NN teacher)) "
        "(VP (MD will) (VP (VB sign) (NP (DT the) (NN letter)))) (. .))"
    )
    assert found["The letter is going to be signed by the teacher."] == (
        "(S (NP (DT The) (NN letter)) (VP (VBZ is) (VP (VBG going) (S (VP (TO to) (VP (VB be) "
        "(VP (VBN signed) (PP (IN by) (NP (DT the) (NN teacher))))))))) (. .))"
    )


def test_agreement_in_number_and_article():
    for _, one in sample():
        words = one.text.lower().replace(",", "").rstrip(".?").split()
        for word, following in pairwise(words):
            if word in ("a", "an"):
                assert word == article(following), one.text
        assert not re.search(
            r"\b(I is|I are|they is|they was|we is|you is|he are|she are)\b", one.text
        )


def test_agent_is_dropped_only_where_it_says_nothing():
    someone = NounPhrase("someone", "pronoun", determiner=None)
    clause = Clause("transitive", someone, "sign", "past", object=LETTER)
    assert {"The letter was signed.", "Somebody signed the letter."} <= said(clause)
    denied = Clause("transitive", someone, "sign", "past", True, object=LETTER)
    assert "The letter was not signed." not in said(denied)
    assert "The letter was signed." not in said(
        Clause("transitive", TEACHER, "sign", "past", object=LETTER)
    )


def test_dative():
    clause = Clause("ditransitive", TEACHER, "give", "past", object=LETTER, recipient=STUDENT)
    assert {
        "The teacher gave a student the letter.",
        "The teacher gave the letter to a student.",
        "A student was given the letter by the teacher.",
        "The letter was given to a student by the teacher.",
    } <= said(clause)


def test_particles():
    clause = Clause(
        "transitive", NounPhrase("Peter", "name", determiner=None), "turn_off", "past",
        object=NounPhrase("lamp"),
    )  # fmt: skip
    assert {"Peter turned the lamp off.", "Peter switched off the lamp."} <= said(clause)
    assert "Peter turned the lamp on." not in said(clause)


def test_contractions_need_a_pronoun_or_not():
    he = NounPhrase("he", "pronoun", determiner=None)
    clause = Clause("transitive", he, "sign", "future", object=LETTER)
    assert {"He'll sign the letter.", "He will sign the letter."} <= said(clause)
    clause = Clause("transitive", TEACHER, "sign", "future", True, object=LETTER)
    found = said(clause)
    assert {"The teacher won't sign the letter.", "The teacher will not sign the letter."} <= found
    assert not any("'ll" in text for text in found)


def test_questions():
    clause = Clause("transitive", TEACHER, "sign", "past", object=LETTER)
    assert {
        "Did the teacher sign the letter?",
        "Is it true that the teacher signed the letter?",
    } <= said(clause, "question")
    assert {
        "The teacher signed the letter, didn't he?",
        "The letter was signed by the teacher, wasn't it?",
        "The teacher signed the letter, right?",
    } <= said(clause, "confirmation")


def test_possessors_and_relative_clauses():
    owned = NounPhrase("letter", determiner=None, possessor=NounPhrase("boy", number="plural"))
    clause = Clause("transitive", TEACHER, "sign", "past", object=owned)
    assert {
        "The teacher signed the boys' letter.",
        "The teacher signed the letter of the boys.",
    } <= said(clause)
    where = Place("in", NounPhrase("garden"))
    sleeping = NounPhrase("boy", number="plural", relative=Relative("sleep", True, None, where))
    clause = Clause("transitive", sleeping, "sign", "past", object=LETTER)
    assert {
        "The boys who were sleeping in the garden signed the letter.",
        "The boys sleeping in the garden signed the letter.",
    } <= said(clause)


def test_clause_order_and_fronting():
    clause = Clause("transitive", TEACHER, "sign", "past", object=LETTER, time="yesterday")
    assert {
        "The teacher signed the letter yesterday.",
        "Yesterday, the teacher signed the letter.",
    } <= said(clause)
    main = Clause("transitive", TEACHER, "sign", "past", object=LETTER)
    why = Clause("intransitive", NounPhrase("boy"), "shout", "past")
    found = said(main, connective="because", subordinate=why)
    assert {
        "The teacher signed the letter because the boy shouted.",
        "Since the boy yelled, the teacher signed the letter.",
    } <= found


def test_that_and_there():
    main = Clause("clausal", TEACHER, "think", "present")
    content = Clause("intransitive", NounPhrase("boy"), "sleep", "present")
    assert {
        "The teacher thinks that the boy is sleeping.",
        "The teacher believes the boy is sleeping.",
    } <= said(main, connective="that", subordinate=content)
    place = Place("in", NounPhrase("garden"))
    clause = Clause("existential", NounPhrase("dog", determiner="a"), "be", "present", place=place)
    assert {
        "There is a dog in the garden.",
        "A dog is in the garden.",
        "In the garden, there is a dog.",
        "There's a dog in the garden.",
    } <= said(clause)


@pytest.mark.parametrize(
    "text",
    [
        *("", ".", "The teacher", "The teacher signed the letter"),
        *("The teacher signed the letter?", "Did the teacher sign the letter."),
        *("The teacher sign the letter.", "The teachers signs the letter."),
        *("The teacher signed letter.", "The teacher signed the the letter."),
        *("The teacher signed an letter.", "The teacher, signed the letter."),
        *("The teacher signed the letter by the student.", "The teacher sign ed the letter."),
        *("The boys's letter was signed by the teacher.", "The letter signed by the teacher."),
        *("The teacher signed the letter, did he?", "The teacher signed the letter, didn't she?"),
        *("Teacher the signed letter the.", "Učitel podepsal dopis."),
    ],
)
def test_what_the_grammar_does_not_have(text):
    assert readings(text) == []


def test_case_and_blanks_do_not_matter():
    assert readings("the  teacher signed the letter.") == readings("The teacher signed the letter.")


def test_tokens():
    assert tokenised("He can't go.") == ["he", "ca", "n't", "go", "."]
    assert tokenised("We cannot.") == ["we", "can", "not", "."]
    assert tokenised("It's the boys' dog, isn't it?") == (
        ["it", "'s", "the", "boys", "'", "dog", ",", "is", "n't", "it", "?"]
    )
    assert tokenised("we can not.") is None
    assert tokenised("  ") is None
