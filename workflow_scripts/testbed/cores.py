"""The cores of all meanings, numbered: pattern, main word, participants and tense of each.

A stratum holds the sentences of one pattern about one word. Numbers go through the strata in
rounds, so that any range of numbers uses all words and patterns about as often. Each round takes
the next core of a stratum; a permutation gives the order of the cores.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.testbed import collocations, drawing
from workflow_scripts.testbed.lexical_slots import NUMERALS, POSSESSIVES
from workflow_scripts.testbed.permutation import permuted
from workflow_scripts.testbed.structure import SOMEONE, NounPhrase, Place, Tense
from workflow_scripts.testbed.word_list import LEXICON, Adjective, Verb, place_of

# The values that each member of a core can have.
Axes = tuple[tuple[Any, ...], ...]

# How often each pattern of a word comes in one round through all words and patterns.
_ROUND: dict[str, dict[str, int]] = {
    "transitive": {"simple": 4, "someone": 1, "question": 1, "confirmation": 1, "complex": 1},
    "ditransitive": {"simple": 6, "someone": 1, "question": 2, "confirmation": 1},
    "intransitive": {"simple": 3, "question": 1, "confirmation": 1},
    "motion": {"simple": 3, "question": 1, "confirmation": 1},
    "clausal": {"content": 3},
    "adjective": {"copular": 2},
    "noun": {"existential": 1},
}
_EXISTING = ("person", "animal", "vehicle", "furniture", "thing", "device", "clothing", "fragile")
SOMEBODY = NounPhrase(SOMEONE, "pronoun", determiner=None)
# Tenses of a main and a subordinate clause that a connective can tie.
CONNECTED: dict[str, tuple[tuple[tuple[Tense, ...], tuple[Tense, ...]], ...]] = {
    "because": ((("past",), ("past",)), (("present", "must", "can"), ("present", "can"))),
    "although": ((("past",), ("past",)), (("future", "present"), ("present",))),
    "when": ((("past",), ("past_progressive",)), (("future", "must"), ("eventual",))),
    "while": ((("past_progressive",), ("past_progressive",)), (("present",), ("present",))),
    "before": ((("past",), ("past",)), (("future", "must"), ("eventual",))),
    "after": ((("past",), ("past",)), (("future", "can"), ("eventual",))),
    "if": ((("future", "must", "can"), ("eventual",)),),
}


@dataclass(frozen=True, slots=True)
class Stratum:
    """All sentences of one pattern about one word.

    Attributes:
        pattern: kind of sentence.
        word: concept.
        axes: a core is one value of each axis.
        share: how often the stratum comes in a round.
    """

    pattern: str
    word: str
    axes: Axes
    share: int

    @property
    def size(self) -> int:
        """How many cores there are."""
        return prod(len(axis) for axis in self.axes)

    def core(self, number: int, seed: int) -> list[Any]:
        """Return the core at place `number` of a permutation of all cores."""
        code = permuted(number, self.size, seed, f"{self.pattern} {self.word}")
        values = []
        for axis in self.axes:
            code, position = divmod(code, len(axis))
            values.append(axis[position])
        return values


@cache
def _connected(tenses: tuple[Tense, ...]) -> tuple[tuple[Tense, str, int], ...]:
    """Return each (tense, connective, number of its row in `CONNECTED`) of a main clause."""
    return tuple(
        (tense, connective, row)
        for connective, rows in CONNECTED.items()
        for row, (mains, _) in enumerate(rows)
        for tense in mains
        if tense in tenses
    )


def _verb_axes(verb: Verb, pattern: str) -> Axes:
    subjects, tenses = collocations.subjects(verb.subject), collocations.tenses(verb)
    if pattern == "content":
        return subjects, ("present", "future", "must", "can"), drawing.seconds()
    if pattern == "someone":
        definite = tuple(
            replace(phrase, determiner=determiner)
            for phrase in collocations.counted(verb.object)
            for determiner in ("the", "this", *POSSESSIVES)
        )
        return (SOMEBODY,), tenses, definite
    things: Axes = (collocations.objects(verb.object),) if verb.object else ()
    if pattern == "complex":
        return subjects, _connected(tenses), *things
    return subjects, tenses, *things


def _adjective_axes(adjective: Adjective) -> Axes:
    degrees = (None, None, *collocations.adverbs("degree"))
    subjects = collocations.subjects(adjective.kind)
    return subjects, ("present", "past", "future"), tuple(dict.fromkeys(degrees))


def _noun_axes(concept: str) -> Axes:
    plurals = (NounPhrase(concept, "noun", "plural", determiner) for determiner in ("a", *NUMERALS))
    forms = (NounPhrase(concept, determiner="a"), *plurals)
    places = tuple(
        Place(relation, NounPhrase(noun.concept))
        for noun in collocations.nouns(("building", "place"))
        for relation in (place_of(noun).english, "near", "behind", "in_front_of", "beside")
    )
    return forms, ("present", "past", "future"), places


def _strata() -> Iterator[Stratum]:
    for verb in LEXICON.verbs:
        for pattern, share in _ROUND[verb.frame].items():
            yield Stratum(pattern, verb.concept, _verb_axes(verb, pattern), share)
    for adjective in LEXICON.adjectives:
        for pattern, share in _ROUND["adjective"].items():
            yield Stratum(pattern, adjective.concept, _adjective_axes(adjective), share)
    for noun in collocations.nouns(_EXISTING):
        for pattern, share in _ROUND["noun"].items():
            yield Stratum(pattern, noun.concept, _noun_axes(noun.concept), share)


@dataclass(frozen=True, slots=True)
class _Rounds:
    """Rounds through the same strata.

    Attributes:
        first: number of the first meaning.
        turn: number of rounds before these.
        entries: (stratum, its earlier entries in the round), one for each time it comes.
    """

    first: int
    turn: int
    entries: tuple[tuple[Stratum, int], ...]


@cache
def _schedule() -> tuple[tuple[_Rounds, ...], int]:
    """Return all rounds and the number of meanings; strata drop out when their cores are used."""
    lives = [(stratum.size // stratum.share, stratum) for stratum in _strata()]
    rounds, first, turn = [], 0, 0
    for end in sorted({life for life, _ in lives}):
        entries = tuple(
            (stratum, before)
            for life, stratum in lives
            if life >= end
            for before in range(stratum.share)
        )
        rounds.append(_Rounds(first, turn, entries))
        first, turn = first + (end - turn) * len(entries), end
    return tuple(rounds), first


def capacity() -> int:
    """Return how many meanings have numbers."""
    return _schedule()[1]


def core(seed: int, index: int) -> tuple[Stratum, list[Any]]:
    """Return the stratum of a number, and its core; no other number has both.

    Raises:
        InputError: the number is negative or not below `capacity()`.
    """
    if not 0 <= index < capacity():
        raise InputError(
            f"testbed meanings are numbered from 0 to {capacity() - 1}: there is no {index}"
        )
    rounds = _schedule()[0]
    current = rounds[bisect_right(rounds, index, key=lambda one: one.first) - 1]
    turn, place = divmod(index - current.first, len(current.entries))
    place = permuted(place, len(current.entries), seed, "round")
    stratum, before = current.entries[place]
    return stratum, stratum.core((current.turn + turn) * stratum.share + before, seed)
