import functools
from collections import Counter

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.testbed.cores import core
from workflow_scripts.testbed.czech_sentence import source
from workflow_scripts.testbed.meaning import capacity, meaning
from workflow_scripts.testbed.permutation import permuted
from workflow_scripts.testbed.structure import well_formed
from workflow_scripts.testbed.word_list import LEXICON


@functools.cache
def meanings():
    return [meaning(1, index) for index in range(21_000)]


@pytest.mark.slow
def test_distinct_meanings_have_distinct_sentences():
    assert len(set(meanings())) == len(meanings())
    assert len({source(one) for one in meanings()}) == len(meanings())


def test_numbers_far_apart_are_distinct_too():
    numbers = [*range(0, capacity(), capacity() // 1000), capacity() - 1]
    assert len({meaning(1, number) for number in numbers}) == len(numbers)
    assert not {meaning(1, number) for number in numbers[10:]} & set(meanings())


def test_cores_are_distinct_within_every_stratum():
    """By construction: the permutation of each stratum meets each of its cores once."""
    strata = {core(1, index)[0] for index in range(1500)}
    smallest = min(strata, key=lambda stratum: stratum.size)
    cores = {tuple(smallest.core(number, 1)) for number in range(smallest.size)}
    assert len(cores) == smallest.size


def test_there_are_millions():
    assert capacity() > 2_000_000


def test_seeds_number_differently():
    other = [meaning(2, index) for index in range(1000)]
    assert sum(one == two for one, two in zip(meanings(), other, strict=False)) < 10


def test_same_number_same_meaning():
    meaning.cache_clear()
    assert meaning(1, 77) == meanings()[77]


@pytest.mark.parametrize("number", [-1, capacity()])
def test_no_such_number(number):
    with pytest.raises(InputError, match=f"there is no {number}"):
        meaning(1, number)


def test_all_are_well_formed():
    assert all(well_formed(one) for one in meanings())


def test_words_are_used_evenly():
    """Each concept of a class as often as the rarest ones of it, within an order of magnitude."""
    verbs = Counter(clause.verb for one in meanings() for clause in one.clauses)
    del verbs["be"]
    assert set(verbs) == {verb.concept for verb in LEXICON.verbs}
    assert min(verbs.values()) > 50
    assert max(verbs.values()) < 12 * min(verbs.values())
    qualities = Counter(clause.quality for one in meanings() for clause in one.clauses)
    del qualities[None]
    assert set(qualities) == {adjective.concept for adjective in LEXICON.adjectives}


def test_every_frame_mood_and_tense_occurs():
    clauses = [clause for one in meanings() for clause in one.clauses]
    assert len({clause.frame for clause in clauses}) == 7
    assert len({clause.tense for clause in clauses}) == 8
    assert {one.mood for one in meanings()} == {"statement", "question", "confirmation"}


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 17, 100, 1000])
def test_permutations_meet_everything_once(size):
    for seed in (0, 1):
        found = [permuted(index, size, seed, "name") for index in range(size)]
        assert sorted(found) == list(range(size))
        if size >= 17:
            assert found != list(range(size))
            assert found != [permuted(index, size, seed, "other") for index in range(size)]


def test_permutation_refuses_what_is_outside():
    with pytest.raises(ValueError, match="range"):
        permuted(5, 5, 0, "name")
