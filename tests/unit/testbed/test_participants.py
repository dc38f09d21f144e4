from dataclasses import replace

import pytest

from workflow_scripts.testbed.participants import Participant, participants
from workflow_scripts.testbed.structure import Clause, Meaning, NounPhrase

TEACHER, LETTER, EVA = NounPhrase("teacher"), NounPhrase("letter"), NounPhrase("eva", "name")
MAIN = Clause("ditransitive", TEACHER, "send", "past", object=LETTER, recipient=EVA)
SECOND = Clause("intransitive", EVA, "sleep", "past")
MEANING = Meaning("statement", MAIN, "because", SECOND)


def test_each_participant_has_its_clause_and_slot():
    assert [(one.clause, one.slot, one.phrase) for one in participants(MEANING)] == [
        ("main", "subject", TEACHER),
        ("main", "object", LETTER),
        ("main", "recipient", EVA),
        ("subordinate", "subject", EVA),
    ]
    assert len(list(participants(Meaning("statement", SECOND)))) == 1


def test_an_exchange_changes_one_phrase():
    book = NounPhrase("book")
    assert [one.exchanged(book) for one in participants(MEANING)] == [
        replace(MEANING, main=replace(MAIN, subject=book)),
        replace(MEANING, main=replace(MAIN, object=book)),
        replace(MEANING, main=replace(MAIN, recipient=book)),
        replace(MEANING, subordinate=replace(SECOND, subject=book)),
    ]


def test_a_clause_that_is_not_there_is_an_error():
    alone = Participant(Meaning("statement", MAIN), "subordinate", "subject", EVA)
    with pytest.raises(ValueError, match="one clause only"):
        alone.exchanged(LETTER)


def test_a_connective_and_a_second_clause_need_each_other():
    assert MEANING.tied == ("because", SECOND)
    assert Meaning("statement", MAIN).tied is None
    for half in (replace(MEANING, connective=None), replace(MEANING, subordinate=None)):
        with pytest.raises(ValueError, match="need each other"):
            assert half.tied
