"""The random part of a meaning: determiners, attributes, adverbials, second clauses."""

from dataclasses import replace
from functools import cache
from typing import TypeVar

import numpy as np

from workflow_scripts.testbed import collocations
from workflow_scripts.testbed.lexical_slots import NUMERALS, POSSESSIVES
from workflow_scripts.testbed.structure import (
    Clause,
    NounPhrase,
    Place,
    Relative,
    Tense,
)
from workflow_scripts.testbed.word_list import LEXICON, Noun, Verb, place_of, suits

T = TypeVar("T")

_PLACES = ("building", "place")
# One is drawn for each clause, all with the same chance: most clauses have none.
_ADVERBIALS = ("time", "time", "manner", "attitude", *[None] * 7)


class Draws:
    """The random choices of one meaning."""

    def __init__(self, rng: np.random.Generator):
        self._random = rng.random

    def chance(self, probability: float) -> bool:
        """Return true with a probability."""
        return self._random() < probability

    def pick(self, options: tuple[T, ...]) -> T:
        """Return one of some options, each with the same chance."""
        return options[int(self._random() * len(options))]


@cache
def _determiners(number: str) -> tuple[str, ...]:
    """Return the determiners of a noun, each as often as its share in the draw."""
    if number == "singular":
        return ("the",) * 14 + ("a",) * 4 + ("this",) * 2 + POSSESSIVES
    return ("the",) * 16 + ("a",) * 2 + ("this",) * 2 + NUMERALS


def determined(draws: Draws, phrase: NounPhrase, *, definite: bool = False) -> NounPhrase:
    """Give a bare noun a determiner; ask for a `definite` one where others are ambiguous."""
    if phrase.kind != "noun":
        return phrase
    determiner = draws.pick(_determiners(phrase.number))
    if definite and determiner not in ("this", *POSSESSIVES):
        determiner = "the"
    return replace(phrase, determiner=determiner)


def attributed(draws: Draws, phrase: NounPhrase, probability: float) -> NounPhrase:
    """Give a noun an adjective, with a probability."""
    if phrase.kind == "noun" and draws.chance(probability):
        options = collocations.adjectives(phrase.head)
        if options:
            return replace(phrase, adjective=draws.pick(options))
    return phrase


def owned(draws: Draws, phrase: NounPhrase) -> NounPhrase:
    """Give a noun an owner: a person with a name, or "the" or "this" person."""
    if draws.chance(0.4):
        owner = draws.pick(collocations.people())
    else:
        noun = draws.pick(collocations.counted(("person",)))
        owner = replace(noun, determiner=draws.pick(("the", "the", "the", "this")))
    return replace(phrase, determiner=None, possessor=owner)


def place(draws: Draws, taken: frozenset[str] = frozenset()) -> Place:
    """Draw where something happens: a city, an adverb, or a place whose noun is not `taken`."""
    if draws.chance(0.12):
        return Place("in", draws.pick(collocations.cities()))
    if draws.chance(0.12):
        return Place(draws.pick(collocations.adverbs("place")))
    noun = _place_noun(draws, taken)
    phrase = NounPhrase(noun.concept)
    if draws.chance(0.65):
        return Place(place_of(noun).english, phrase)
    return Place(draws.pick(("near", "behind", "in_front_of", "beside")), phrase)


def _place_noun(draws: Draws, taken: frozenset[str]) -> Noun:
    while (noun := draws.pick(collocations.nouns(_PLACES))).concept in taken:
        pass
    return noun


def _relative(draws: Draws, head: NounPhrase, past: bool) -> Relative | None:
    """Draw what a person is doing; None where nothing suits."""
    if draws.chance(0.4):
        where = place(draws)
        return Relative(draws.pick(collocations.SEEN_BEING).concept, past, None, where)
    verb = draws.pick(collocations.SEEN_DOING)
    thing = draws.pick(collocations.counted(verb.object))
    if thing.head == head.head:
        return None
    thing = determined(draws, thing, definite=True)
    return Relative(verb.concept, past, thing)


def detailed(
    draws: Draws, phrase: NounPhrase, *, past: bool, definite: bool = False, simple: bool = False
) -> NounPhrase:
    """Complete a bare phrase: determiner, adjective, owner, relative clause.

    Args:
        draws: the random choices.
        phrase: noun, name or pronoun.
        past: the clause around it is in a past tense.
        definite: no indefinite determiner.
        simple: no owner and no relative clause.
    """
    if phrase.kind != "noun":
        return phrase
    phrase = attributed(draws, phrase, 0.05 if simple else 0.1)
    kind = LEXICON.noun[phrase.head].kind
    if not simple and kind in collocations.OWNED and draws.chance(0.1):
        return owned(draws, phrase)
    phrase = determined(draws, phrase, definite=definite)
    if not simple and kind == "person" and not phrase.adjective and draws.chance(0.06):
        return replace(phrase, relative=_relative(draws, phrase, past))
    return phrase


def recipient(draws: Draws, taken: frozenset[str], *, past: bool, definite: bool) -> NounPhrase:
    """Draw who is given something."""
    people = collocations.objects(("person",))
    while (phrase := draws.pick(people)).head in taken:
        pass
    return detailed(draws, phrase, past=past, definite=definite, simple=True)


def goal(draws: Draws) -> Place:
    """Draw where somebody is going."""
    direction = draws.pick(("to", "to", "to", "towards", "from"))
    if draws.chance(0.3):
        return Place(direction, draws.pick(collocations.cities()))
    noun = draws.pick(collocations.nouns(_PLACES))
    return Place(direction, attributed(draws, NounPhrase(noun.concept), 0.1))


def with_adverbials(draws: Draws, clause: Clause, *, question: bool = False) -> Clause:
    """Add up to two of manner, place, time and attitude; or the frequency of a habit."""
    if clause.tense == "habitual":
        clause = replace(clause, frequency=draws.pick(collocations.adverbs("frequency")))
    else:
        clause = _with_time_or_manner(draws, clause, question)
    if clause.frame in ("transitive", "ditransitive", "intransitive") and draws.chance(0.08):
        named = [clause.subject, clause.object] if clause.object else [clause.subject]
        taken = frozenset(phrase.head for phrase in named)
        clause = replace(clause, place=place(draws, taken))
    return clause


def _with_time_or_manner(draws: Draws, clause: Clause, question: bool) -> Clause:
    chosen = draws.pick(_ADVERBIALS)
    if chosen == "time":
        return replace(clause, time=time(draws, clause.tense))
    if chosen == "attitude" and not question:
        return replace(clause, attitude=draws.pick(collocations.adverbs("sentence")))
    verb = LEXICON.verb.get(clause.verb)
    if chosen == "manner" and verb is not None and not verb.stative:
        return replace(clause, manner=draws.pick(collocations.adverbs("manner")))
    return clause


def time(draws: Draws, tense: Tense) -> str:
    """Draw when something happens."""
    return draws.pick(collocations.adverbs("time", collocations.time_of(tense)))


def second_clause(
    draws: Draws, tenses: tuple[Tense, ...], taken: frozenset[str], *, deniable: bool
) -> Clause:
    """Draw a short clause in one of some tenses, about nobody and nothing that is `taken`."""
    tense = draws.pick(tenses)
    if tense in ("past", "present", "future") and draws.chance(0.2):
        return _quality_clause(draws, tense, taken)
    return _verb_clause(draws, draws.pick(_verbs_with(tense)), tense, taken, deniable=deniable)


def content(draws: Draws, verb: Verb, taken: frozenset[str]) -> Clause:
    """Draw a short clause of a verb that somebody thinks or says."""
    tenses = tuple(tense for tense in collocations.tenses(verb) if tense != "habitual")
    clause = _verb_clause(draws, verb, draws.pick(tenses), taken, deniable=True)
    if draws.chance(0.15):
        clause = replace(clause, time=time(draws, clause.tense))
    return clause


def _verb_clause(
    draws: Draws, verb: Verb, tense: Tense, taken: frozenset[str], *, deniable: bool
) -> Clause:
    subject = _other(draws, collocations.subjects(verb.subject), taken)
    past = tense in ("past", "past_progressive")
    negative = deniable and draws.chance(0.15)
    who = detailed(draws, subject, past=past, definite=negative, simple=True)
    clause = Clause(verb.frame, who, verb.concept, tense, negative)
    if verb.frame == "motion":
        return replace(clause, goal=goal(draws))
    if verb.frame == "transitive":
        thing = _other(draws, collocations.objects(verb.object), taken | {subject.head})
        thing = detailed(draws, thing, past=past, definite=negative, simple=True)
        return replace(clause, object=thing)
    return clause


def _other(draws: Draws, options: tuple[NounPhrase, ...], taken: frozenset[str]) -> NounPhrase:
    """Pick a phrase whose head is not taken; any phrase after 20 attempts."""
    phrase = draws.pick(options)
    for _ in range(19):
        if phrase.head not in taken:
            break
        phrase = draws.pick(options)
    return phrase


@cache
def seconds() -> tuple[Verb, ...]:
    """Return the verbs of short clauses."""
    return tuple(
        verb for verb in LEXICON.verbs if verb.frame in ("transitive", "intransitive", "motion")
    )


@cache
def _verbs_with(tense: Tense) -> tuple[Verb, ...]:
    if tense == "eventual":
        return tuple(verb for verb in seconds() if verb.perfective and not verb.stative)
    return tuple(verb for verb in seconds() if tense in collocations.tenses(verb))


@cache
def _qualities() -> tuple[str, ...]:
    """Return the adjectives that suit some person."""
    person = collocations.nouns(("person",))[0]
    return tuple(one.concept for one in LEXICON.adjectives if suits(person, one.kind))


def _quality_clause(draws: Draws, tense: Tense, taken: frozenset[str]) -> Clause:
    subject = _other(draws, collocations.subjects(("person",)), taken)
    subject = determined(draws, subject, definite=True)
    return Clause("copular", subject, "be", tense, quality=draws.pick(_qualities()))
