"""The meanings of the testbed, numbered: any range of numbers is a set of distinct meanings.

The number decides the core of the meaning; no two numbers have the same core, so no two meanings
are the same. Everything else is drawn from the number's own random generator.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from workflow_scripts.core.seeding import generator
from workflow_scripts.testbed import drawing
from workflow_scripts.testbed.cores import CONNECTED, SOMEBODY, capacity, core
from workflow_scripts.testbed.drawing import Draws
from workflow_scripts.testbed.structure import Clause, Meaning, Mood, NounPhrase, Place, Tense
from workflow_scripts.testbed.word_list import LEXICON, Verb

__all__ = ["capacity", "meaning"]

# Connectives of clauses that may be denied: nothing happens "before he doesn't come".
_DENIABLE = frozenset({"because", "although"})


@lru_cache(1 << 12)
def meaning(seed: int, index: int) -> Meaning:
    """Return the meaning of a number.

    Raises:
        InputError: the number is negative or not below `capacity()`.
    """
    stratum, values = core(seed, index)
    draws = Draws(generator(seed, "meaning", index))
    return _BUILDERS[stratum.pattern](draws, stratum.word, *values)


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
    can_deny = tense != "habitual" and subject != SOMEBODY
    negative = can_deny and draws.chance(0.15)
    clause = Clause(verb.frame, subject, word, tense, negative)
    if subject != SOMEBODY:
        # In a negative clause the passive of an indefinite phrase might mean something else.
        phrase = drawing.detailed(draws, subject, past=past, definite=negative, simple=simple)
        clause = replace(clause, subject=phrase)
        if thing is not None:
            thing = drawing.detailed(draws, thing, past=past, definite=negative, simple=simple)
    elif thing is not None:
        thing = drawing.attributed(draws, thing, 0.25)
    if verb.frame == "ditransitive":
        taken = frozenset({subject.head})
        someone = drawing.recipient(draws, taken, past=past, definite=negative)
        clause = replace(clause, recipient=someone)
    if verb.frame == "motion":
        clause = replace(clause, goal=drawing.goal(draws))
    return replace(clause, object=thing)


def _simple(
    draws: Draws, word: str, subject: NounPhrase, tense: Tense, *thing: NounPhrase
) -> Meaning:
    main = _main(draws, word, subject, tense, *thing)
    return Meaning("statement", drawing.with_adverbials(draws, main))


def _asked(mood: Mood) -> "Builder":
    def build(
        draws: Draws, word: str, subject: NounPhrase, tense: Tense, *thing: NounPhrase
    ) -> Meaning:
        main = _main(draws, word, subject, tense, *thing)
        return Meaning(mood, drawing.with_adverbials(draws, main, question=True))

    return build


def _complex(
    draws: Draws, word: str, subject: NounPhrase, tie: tuple[Tense, str, int], *thing: NounPhrase
) -> Meaning:
    tense, connective, row = tie
    main = _main(draws, word, subject, tense, *thing, simple=True)
    taken = frozenset(phrase.head for phrase in (subject, *thing))
    second = drawing.second_clause(
        draws, CONNECTED[connective][row][1], taken, deniable=connective in _DENIABLE
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
    if subject.adjective == word:  # no "cold factory" is said to be cold
        subject = replace(subject, adjective=None)
    negative = degree is None and draws.chance(0.15)
    clause = Clause("copular", subject, "be", tense, negative, quality=word, degree=degree)
    return Meaning("statement", drawing.with_adverbials(draws, clause))


def _existential(
    draws: Draws, word: str, subject: NounPhrase, tense: Tense, where: Place
) -> Meaning:
    subject = drawing.attributed(draws, subject, 0.3)
    if where.phrase is not None:
        where = replace(where, phrase=drawing.attributed(draws, where.phrase, 0.1))
    clause = Clause("existential", subject, "be", tense, place=where)
    mood: Mood = "question" if draws.chance(0.15) else "statement"
    if draws.chance(0.25):
        clause = replace(clause, time=drawing.time(draws, tense))
    return Meaning(mood, clause)


# (the random choices, the stratum's word, the values of the core) -> meaning.
Builder = Callable[..., Meaning]
_BUILDERS: dict[str, Builder] = {
    "simple": _simple,
    "someone": _simple,
    "question": _asked("question"),
    "confirmation": _asked("confirmation"),
    "complex": _complex,
    "content": _content,
    "copular": _copular,
    "existential": _existential,
}
