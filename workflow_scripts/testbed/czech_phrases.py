"""Czech noun phrases in any case, places, and how a verb agrees with its subject."""

from functools import lru_cache
from typing import NamedTuple

from workflow_scripts.testbed import czech
from workflow_scripts.testbed.lexical_slots import NUMERALS
from workflow_scripts.testbed.structure import SOMEONE, NounPhrase, Place, Relative
from workflow_scripts.testbed.word_list import LEXICON, Name, Noun, Verb, place_of

_NUMBERS = {"singular": "sg", "plural": "pl"}
# "You" is the polite vy, which is plural; the other names are those of `czech`.
_PRONOUNS = {"you": "you_plural"}
_OWNERS = {"your": "your_plural"}
_RELATIONS = {
    "near": ("u", "gen"),
    "behind": ("za", "ins"),
    "in_front_of": ("před", "ins"),
    "beside": ("vedle", "gen"),
}
_CACHE = 1 << 16


class Agreement(NamedTuple):
    """The person, number and gender that a verb takes from its subject."""

    person: int
    number: str
    gender: str


_PRONOUN_AGREEMENT = {
    "I": Agreement(1, "sg", "ma"),
    "you": Agreement(2, "pl", "ma"),
    "he": Agreement(3, "sg", "ma"),
    "she": Agreement(3, "sg", "f"),
    "we": Agreement(1, "pl", "ma"),
    "they": Agreement(3, "pl", "ma"),
    SOMEONE: Agreement(3, "sg", "ma"),
}


def entry(phrase: NounPhrase) -> Noun | Name:
    """Return the word of the lexicon that heads a noun or a name."""
    return (LEXICON.name if phrase.kind == "name" else LEXICON.noun)[phrase.head]


def _count(phrase: NounPhrase) -> int | None:
    """Return how many a numeral says there are."""
    return NUMERALS.index(phrase.determiner) + 2 if phrase.determiner in NUMERALS else None


@lru_cache(_CACHE)
def agreement(phrase: NounPhrase) -> Agreement:
    """Return how a verb agrees with its subject; "five men" are a neuter singular."""
    if phrase.kind == "pronoun":
        return _PRONOUN_AGREEMENT[phrase.head]
    count = _count(phrase)
    if count is not None and czech.counted_case(count, "nom") == "gen":
        return Agreement(3, "sg", "n")
    return Agreement(3, _NUMBERS[phrase.number], entry(phrase).gender)


@lru_cache(_CACHE)
def noun_phrase(phrase: NounPhrase, case: str) -> tuple[str, ...]:
    """Return the words of a phrase in a case; a relative clause stands between commas."""
    if phrase.kind == "pronoun":
        if phrase.head == SOMEONE:
            return (czech.someone(case),)
        return (czech.pronoun(_PRONOUNS.get(phrase.head, phrase.head), case, "stressed"),)
    word, number = entry(phrase), _NUMBERS[phrase.number]
    if phrase.kind == "name":
        return (czech.noun(word, case, number),)
    words = []
    count = _count(phrase)
    if count is not None:
        words.append(czech.numeral(count, word.gender, case))
        case = czech.counted_case(count, case)
    elif phrase.determiner not in (None, "the"):
        words.append(_determiner(phrase.determiner, word.gender, case, number))
    if phrase.adjective:
        adjective = LEXICON.adjective[phrase.adjective]
        words.append(czech.adjective(adjective, word.gender, case, number))
    words.append(czech.noun(word, case, number))
    if phrase.possessor:
        words += noun_phrase(phrase.possessor, "gen")
    if phrase.relative:
        words += _relative(phrase.relative, word.gender, number)
    return tuple(words)


def _determiner(determiner: str, gender: str, case: str, number: str) -> str:
    if determiner == "this":
        return czech.demonstrative(gender, case, number)
    if determiner == "a":
        return czech.indefinite(gender, case, number)
    return czech.possessive(_OWNERS.get(determiner, determiner), gender, case, number)


def _relative(relative: Relative, gender: str, number: str) -> list[str]:
    verb = LEXICON.verb[relative.verb]
    who = czech.adjectival("který", gender, "nom", number)
    if relative.past:
        doing = czech.past(verb, "imperfective", gender, number)
    else:
        doing = czech.present(verb, "imperfective", 3, number)
    reflexive = czech.clitic(verb, "imperfective")
    words = [",", who, *([reflexive] if reflexive else []), doing]
    words += governed(relative.object, verb) if relative.object else place(relative.place)
    return [*words, ","]


def governed(phrase: NounPhrase, verb: Verb) -> tuple[str, ...]:
    """Return the object of a verb in the case, after the preposition, that the verb demands."""
    words = noun_phrase(phrase, verb.case)
    return _after(verb.preposition, words) if verb.preposition else words


def _after(preposition: str, words: tuple[str, ...]) -> tuple[str, ...]:
    return (czech.preposition(preposition, words[0]), *words)


@lru_cache(_CACHE)
def place(where: Place) -> tuple[str, ...]:
    """Return the words of a place: v or na, as its noun needs, or another preposition."""
    if where.phrase is None:
        return tuple(LEXICON.adverb[where.relation].czech.split())
    if where.relation in _RELATIONS:
        preposition, case = _RELATIONS[where.relation]
    else:
        preposition, case = place_of(entry(where.phrase)).czech, "loc"
    return _after(preposition, noun_phrase(where.phrase, case))


@lru_cache(_CACHE)
def goal(where: Place) -> tuple[str, ...]:
    """Return the words of a direction: do or na, as its noun needs, or směrem k, or z.

    Raises:
        ValueError: the direction has no phrase.
    """
    if where.phrase is None:
        raise ValueError(f"a direction needs a noun or a name: {where}")
    if where.relation == "towards":
        return ("směrem", *_after("k", noun_phrase(where.phrase, "dat")))
    if where.relation == "from":
        return _after("z", noun_phrase(where.phrase, "gen"))
    if place_of(entry(where.phrase)).czech == "na":
        return _after("na", noun_phrase(where.phrase, "acc"))
    return _after("do", noun_phrase(where.phrase, "gen"))
