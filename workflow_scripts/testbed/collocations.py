"""Which words go together in a clause: subjects, objects, adjectives and adverbs that suit."""

from functools import cache

from workflow_scripts.testbed.lexical_slots import PRONOUNS
from workflow_scripts.testbed.structure import NounPhrase, Tense
from workflow_scripts.testbed.word_list import LEXICON, Noun, Verb, suits

# Kinds of nouns that can belong to someone.
OWNED = frozenset(
    [
        "animal",
        "building",
        "document",
        "vehicle",
        "clothing",
        "furniture",
        "device",
        "fragile",
        "thing",
        "food",
        "idea",
    ]
)
# What people are seen doing in "the woman reading the letter".
SEEN_DOING = tuple(
    LEXICON.verb[concept]
    for concept in [
        "write",
        "repair",
        "wash",
        "watch",
        "chase",
        "eat",
        "cook",
        "make",
        "sign",
        "translate",
        "examine",
        "check",
        "decorate",
        "drive",
        "use",
        "describe",
        "lift",
    ]
)
SEEN_BEING = tuple(
    LEXICON.verb[concept]
    for concept in ["work", "sleep", "cry", "laugh", "rest", "argue", "sing", "exercise", "shout"]
)
_SUBJECT_PRONOUNS = tuple(PRONOUNS)


@cache
def nouns(kinds: tuple[str, ...]) -> tuple[Noun, ...]:
    """Return the nouns of some kinds or concepts."""
    return tuple(noun for noun in LEXICON.nouns if suits(noun, kinds))


@cache
def people() -> tuple[NounPhrase, ...]:
    """Return the people with a name."""
    return tuple(
        NounPhrase(name.concept, "name", determiner=None)
        for name in LEXICON.names
        if name.kind == "person"
    )


@cache
def cities() -> tuple[NounPhrase, ...]:
    """Return the cities."""
    return tuple(
        NounPhrase(name.concept, "name", determiner=None)
        for name in LEXICON.names
        if name.kind == "city"
    )


@cache
def counted(kinds: tuple[str, ...]) -> tuple[NounPhrase, ...]:
    """Return the bare phrases of nouns, in the singular and the plural."""
    return tuple(
        NounPhrase(noun.concept, "noun", number)
        for number in ("singular", "plural")
        for noun in nouns(kinds)
    )


@cache
def subjects(kinds: tuple[str, ...]) -> tuple[NounPhrase, ...]:
    """Return the bare phrases that may be the subject: nouns, and people by name and pronoun."""
    if "person" not in kinds:
        return counted(kinds)
    pronouns = tuple(
        NounPhrase(pronoun, "pronoun", determiner=None) for pronoun in _SUBJECT_PRONOUNS
    )
    return counted(kinds) + people() + pronouns


@cache
def objects(kinds: tuple[str, ...]) -> tuple[NounPhrase, ...]:
    """Return the bare phrases that may be an object: nouns, and people by name."""
    return counted(kinds) + (people() if "person" in kinds else ())


@cache
def adjectives(noun: str) -> tuple[str, ...]:
    """Return the adjectives that suit a noun."""
    entry = LEXICON.noun[noun]
    return tuple(one.concept for one in LEXICON.adjectives if suits(entry, one.kind))


@cache
def adverbs(kind: str, tense: str = "any") -> tuple[str, ...]:
    """Return the adverbs of a kind that go with a tense: "past", "present" or "future"."""
    return tuple(
        adverb.concept
        for adverb in LEXICON.adverbs
        if adverb.kind == kind and adverb.tense in (tense, "any")
    )


def time_of(tense: Tense) -> str:
    """Return which adverbs of time go with a tense."""
    return {
        "past": "past",
        "past_progressive": "past",
        "present": "present",
        "future": "future",
        "must": "future",
        "can": "future",
    }[tense]


@cache
def tenses(verb: Verb) -> tuple[Tense, ...]:
    """Return the tenses in which a verb means the same in Czech and English.

    "past" is the perfective past, or the past of a state; "past_progressive" is the imperfective
    past.
    """
    if verb.stative:
        return ("past", "present", "future")
    progressive: tuple[Tense, ...]
    progressive = ("past_progressive", "present", "habitual", "future", "must", "can")
    return progressive if verb.perfective is None else ("past", *progressive)
