"""The meanings of the testbed, numbered: any range of numbers is a set of distinct meanings.

The number decides the pattern of the sentence, its main word, the participants and the tense (the
core); no two numbers have the same core, so no two meanings are the same. Everything else is drawn
from the number's own random generator.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from math import prod
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.seeding import generator
from workflow_scripts.testbed import drawing, selection
from workflow_scripts.testbed.drawing import Draws
from workflow_scripts.testbed.permutation import permuted
from workflow_scripts.testbed.structure import SOMEONE, Clause, Meaning, NounPhrase, Place, Tense
from workflow_scripts.testbed.vocabulary import NUMERALS, POSSESSIVES
from workflow_scripts.testbed.words import LEXICON, Adjective, Verb

# The values of each part of a core.
Axes = tuple[tuple[Any, ...], ...]

# How often each pattern of a word comes in one round through all words and patterns.
_ROUND: dict[str, dict[str, int]] = {
    "transitive": {"simple": 3, "someone": 1, "question": 1, "confirmation": 1, "complex": 2},
    "ditransitive": {"simple": 8, "someone": 2, "question": 3, "confirmation": 2, "complex": 3},
    "intransitive": {"simple": 2, "question": 1, "confirmation": 1, "complex": 1},
    "motion": {"simple": 4, "question": 1, "confirmation": 1, "complex": 2},
    "clausal": {"content": 5},
    "adjective": {"copular": 2},
    "noun": {"existential": 1},
}
_EXISTING = ("person", "animal", "vehicle", "furniture", "thing", "device", "clothing", "fragile")
_SOMEONE = NounPhrase(SOMEONE, "pronoun", determiner=None)
# Tenses of a main and a subordinate clause that a connective can tie.
_CONNECTED: dict[str, tuple[tuple[tuple[Tense, ...], tuple[Tense, ...]], ...]] = {
    "because": ((("past",), ("past",)), (("present", "must", "can"), ("present", "can"))),
    "although": ((("past",), ("past",)), (("future", "present"), ("present",))),
    "when": ((("past",), ("past_progressive",)), (("future", "must"), ("eventual",))),
    "while": ((("past_progressive",), ("past_progressive",)), (("present",), ("present",))),
    "before": ((("past",), ("past",)), (("future", "must"), ("eventual",))),
    "after": ((("past",), ("past",)), (("future", "can"), ("eventual",))),
    "if": ((("future", "must", "can"), ("eventual",)),),
}
# Connectives of clauses that may be denied: nothing happens "before he doesn't come".
_DENIABLE = frozenset({"because", "although"})


@dataclass(frozen=True, slots=True)
class _Stratum:
    """All sentences of one pattern about one word; `axes` span their cores."""

    pattern: str
    word: str
    axes: Axes
    share: int

    @property
    def size(self) -> int:
        """How many cores there are."""
        return prod(len(axis) for axis in self.axes)

    def core(self, number: int, seed: int) -> list[Any]:
        """Return the core that a permutation of all of them has at `number`."""
        code = permuted(number, self.size, seed, f"{self.pattern} {self.word}")
        values = []
        for axis in self.axes:
            code, position = divmod(code, len(axis))
            values.append(axis[position])
        return values


@cache
def _connected(tenses: tuple[Tense, ...]) -> tuple[tuple[Tense, str, int], ...]:
    """Return each (tense, connective, number of its row) that a main clause can have."""
    return tuple(
        (tense, connective, row)
        for connective, rows in _CONNECTED.items()
        for row, (mains, _) in enumerate(rows)
        for tense in mains
        if tense in tenses
    )


def _verb_axes(verb: Verb, pattern: str) -> Axes:
    subjects, tenses = selection.subjects(verb.subject), selection.tenses(verb)
    if pattern == "content":
        return subjects, ("present", "future", "must", "can"), drawing.seconds()
    if pattern == "someone":
        things = tuple(
            replace(phrase, determiner=determiner)
            for phrase in selection.counted(verb.object)
            for determiner in ("the", "this", *POSSESSIVES)
        )
        return (_SOMEONE,), tenses, things
    if pattern == "complex":
        tenses = _connected(tenses)
    things = (selection.objects(verb.object),) if verb.object else ()
    return subjects, tenses, *things


def _adjective_axes(adjective: Adjective) -> Axes:
    degrees = (None, None, *selection.adverbs("degree"))
    subjects = selection.subjects(adjective.kind)
    return subjects, ("present", "past", "future"), tuple(dict.fromkeys(degrees))


def _noun_axes(concept: str) -> Axes:
    plurals = (NounPhrase(concept, "noun", "plural", determiner) for determiner in ("a", *NUMERALS))
    forms = (NounPhrase(concept, determiner="a"), *plurals)
    places = tuple(
        Place(relation, NounPhrase(noun.concept))
        for noun in selection.nouns(("building", "place"))
        for relation in (noun.place.english, "near", "behind", "in_front_of", "beside")
    )
    return forms, ("present", "past", "future"), places


def _strata() -> Iterator[_Stratum]:
    for verb in LEXICON.verbs:
        for pattern, share in _ROUND[verb.frame].items():
            yield _Stratum(pattern, verb.concept, _verb_axes(verb, pattern), share)
    for adjective in LEXICON.adjectives:
        for pattern, share in _ROUND["adjective"].items():
            yield _Stratum(pattern, adjective.concept, _adjective_axes(adjective), share)
    for noun in selection.nouns(_EXISTING):
        for pattern, share in _ROUND["noun"].items():
            yield _Stratum(pattern, noun.concept, _noun_axes(noun.concept), share)


@dataclass(frozen=True, slots=True)
class _Rounds:
    """Rounds through the same strata.

    Attributes:
        first: number of the first meaning.
        turn: how many rounds came before.
        entries: each stratum as often as it comes in a round, with how often it came before.
    """

    first: int
    turn: int
    entries: tuple[tuple[_Stratum, int], ...]


@cache
def _schedule() -> tuple[tuple[_Rounds, ...], int]:
    """Return all rounds and the number of meanings; a stratum without more cores drops out."""
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
    """Return how many meanings there are numbers for."""
    return _schedule()[1]


def _core(seed: int, index: int) -> tuple[_Stratum, list[Any]]:
    """Return the stratum of a number, and the core that no other number has in it."""
    rounds = _schedule()[0]
    current = rounds[bisect_right(rounds, index, key=lambda one: one.first) - 1]
    turn, place = divmod(index - current.first, len(current.entries))
    place = permuted(place, len(current.entries), seed, "round")
    stratum, before = current.entries[place]
    return stratum, stratum.core((current.turn + turn) * stratum.share + before, seed)


@lru_cache(1 << 12)
def meaning(seed: int, index: int) -> Meaning:
    """Return the meaning of a number.

    Raises:
        InputError: the number is negative or not below `capacity()`.
    """
    if not 0 <= index < capacity():
        raise InputError(
            f"testbed meanings are numbered from 0 to {capacity() - 1}: there is no {index}"
        )
    stratum, core = _core(seed, index)
    draws = Draws(generator(seed, "meaning", index))
    return _BUILDERS[stratum.pattern](draws, stratum.word, *core)


def _main(
    draws: Draws,
    word: str,
    subject: NounPhrase,
    tense: Tense,
    thing: NounPhrase | None = None,
    *,
    simple: bool = False,
) -> Clause:
    """Complete the main clause of a verb; `simple` keeps it short."""
    verb = LEXICON.verb[word]
    past = tense in ("past", "past_progressive")
    can_deny = tense != "habitual" and subject != _SOMEONE
    negative = can_deny and draws.chance(0.15)
    clause = Clause(verb.frame, subject, word, tense, negative)
    if subject != _SOMEONE:
        # Under negation the passive of an indefinite phrase might mean something else.
        phrase = drawing.detailed(draws, subject, past=past, definite=negative, simple=simple)
        clause = replace(clause, subject=phrase)
        if thing is not None:
            thing = drawing.detailed(draws, thing, past=past, definite=negative, simple=simple)
    elif thing is not None:
        thing = drawing.attributed(draws, thing, 0.5)
    if verb.frame == "ditransitive":
        taken = frozenset({subject.head})
        someone = drawing.recipient(draws, taken, past=past, definite=negative)
        clause = replace(clause, recipient=someone)
    if verb.frame == "motion":
        clause = replace(clause, goal=drawing.goal(draws))
    return replace(clause, object=thing)


def _simple(draws: Draws, word: str, *core: Any) -> Meaning:
    return Meaning("statement", drawing.with_adverbials(draws, _main(draws, word, *core)))


def _asked(draws: Draws, word: str, *core: Any) -> Clause:
    return drawing.with_adverbials(draws, _main(draws, word, *core), question=True)


def _question(draws: Draws, word: str, *core: Any) -> Meaning:
    return Meaning("question", _asked(draws, word, *core))


def _confirmation(draws: Draws, word: str, *core: Any) -> Meaning:
    return Meaning("confirmation", _asked(draws, word, *core))


def _complex(
    draws: Draws, word: str, subject: NounPhrase, tie: tuple[Tense, str, int], *thing: NounPhrase
) -> Meaning:
    tense, connective, row = tie
    main = _main(draws, word, subject, tense, *thing, simple=True)
    taken = frozenset(phrase.head for phrase in (subject, *thing))
    second = drawing.second_clause(
        draws, _CONNECTED[connective][row][1], taken, deniable=connective in _DENIABLE
    )
    return Meaning("statement", main, connective, second)


def _content(draws: Draws, word: str, subject: NounPhrase, tense: Tense, verb: Verb) -> Meaning:
    main = _main(draws, word, subject, tense, simple=True)
    taken = frozenset({subject.head})
    return Meaning("statement", main, "that", drawing.content(draws, verb, taken))


def _copular(
    draws: Draws, word: str, subject: NounPhrase, tense: Tense, degree: str | None
) -> Meaning:
    subject = drawing.detailed(draws, subject, past=tense == "past", definite=True)
    negative = degree is None and draws.chance(0.15)
    clause = Clause("copular", subject, "be", tense, negative, quality=word, degree=degree)
    return Meaning("statement", drawing.with_adverbials(draws, clause))


def _existential(
    draws: Draws, word: str, subject: NounPhrase, tense: Tense, where: Place
) -> Meaning:
    subject = drawing.attributed(draws, subject, 0.6)
    where = replace(where, phrase=drawing.attributed(draws, where.phrase, 0.3))
    clause = Clause("existential", subject, "be", tense, place=where)
    mood = "question" if draws.chance(0.15) else "statement"
    if draws.chance(0.4):
        clause = replace(clause, time=drawing.time(draws, tense))
    return Meaning(mood, clause)


_BUILDERS = {
    "simple": _simple,
    "someone": _simple,
    "question": _question,
    "confirmation": _confirmation,
    "complex": _complex,
    "content": _content,
    "copular": _copular,
    "existential": _existential,
}
