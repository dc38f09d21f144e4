"""The English words of every lexical slot: from a value to its words, and from words to values."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from workflow_scripts.testbed.auxiliaries import TaggedWords
from workflow_scripts.testbed.forest import Mark
from workflow_scripts.testbed.structure import SOMEONE
from workflow_scripts.testbed.word_list import LEXICON

# What a lexical slot expresses: a concept; or a concept with a number, or with a verb form and
# maybe a particle.
Value = str | tuple[str, ...]

FORM_TAGS = {"base": "VB", "third": "VBZ", "past": "VBD", "participle": "VBN", "gerund": "VBG"}

PRONOUNS = {
    "I": "me",
    "you": "you",
    "he": "him",
    "she": "her",
    "we": "us",
    "they": "them",
}
POSSESSIVES = ("my", "your", "his", "her", "our", "their")
NUMERALS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
RELATIONS = {
    "in": ("in",),
    "on": ("on",),
    "at": ("at",),
    "near": ("near", "close to"),
    "behind": ("behind",),
    "in_front_of": ("in front of",),
    "beside": ("beside", "next to"),
}
DIRECTIONS = {"to": ("to",), "towards": ("towards", "in the direction of"), "from": ("from",)}
CONNECTIVES = {
    "because": ("because", "since"),
    "although": ("although", "though", "even though"),
    "when": ("when",),
    "while": ("while", "whilst"),
    "before": ("before",),
    "after": ("after",),
    "if": ("if", "provided that"),
    "until": ("until", "till"),
}
# Adverbs of frequency: those that stand before the verb (the others stand at the end of the
# clause), those of them that may also stand at the end, and all that may open the clause.
_MID_FREQUENCY = frozenset(
    [
        "always",
        "often",
        "frequently",
        "sometimes",
        "occasionally",
        "rarely",
        "seldom",
        "usually",
        "normally",
        "generally",
        "regularly",
    ]
)
_END_FREQUENCY = frozenset(["often", "frequently", "sometimes", "occasionally", "regularly"])
_FRONT_FREQUENCY = frozenset(
    [
        "sometimes",
        "occasionally",
        "usually",
        "normally",
        "generally",
        "every day",
        "every week",
        "every year",
    ]
)
_TAGS = {
    "determiner": "DT",
    "relation": "IN",
    "direction": "IN",
    "connective": "IN",
    "adjective": "JJ",
    "quality": "JJ",
    "time": "RB",
    "degree": "RB",
}


@dataclass(frozen=True, slots=True)
class Surface:
    """One way to say a value."""

    words: TaggedWords
    marks: tuple[Mark, ...] = ()


class Entry(NamedTuple):
    """A surface as a parser looks for it: its words in lower case, and the value they express."""

    words: tuple[str, ...]
    value: Value
    marks: tuple[Mark, ...]


# (category of the slot, value, surface)
Expressed = tuple[str, Value, Surface]


def _tagged(tag: str, phrase: str) -> TaggedWords:
    return tuple((tag, word) for word in phrase.split())


def _synonyms(concept: str, names: Iterable[str]) -> list[tuple[Mark, ...]]:
    """Return the marks of each synonym of a concept; a single one has no marks."""
    names = list(names)
    if len(names) == 1:
        return [()]
    return [(("synonym", f"{concept}: {name}"),) for name in names]


def _phrases(category: str, concept: str, phrases: Iterable[str]) -> Iterator[Expressed]:
    phrases = list(phrases)
    for phrase, marks in zip(phrases, _synonyms(concept, phrases), strict=True):
        yield category, concept, Surface(_tagged(_TAGS[category], phrase), marks)


def _nouns() -> Iterator[Expressed]:
    for noun in LEXICON.nouns:
        names = [english.singular for english in noun.english]
        for english, marks in zip(noun.english, _synonyms(noun.concept, names), strict=True):
            singular, plural = (noun.concept, "singular"), (noun.concept, "plural")
            yield "noun", singular, Surface(_tagged("NN", english.singular), marks)
            yield "noun", plural, Surface(_tagged("NNS", english.plural), marks)


def _verbs() -> Iterator[Expressed]:
    for concept in LEXICON.verbs:
        names = [f"{verb.base} {verb.particle}".strip() for verb in concept.english]
        for verb, marks in zip(concept.english, _synonyms(concept.concept, names), strict=True):
            for form in FORM_TAGS:
                value, head = (concept.concept, form), _tagged(FORM_TAGS[form], getattr(verb, form))
                particle = (("RP", verb.particle),) if verb.particle else ()
                yield "verb", value, Surface(head + particle, marks)
                if verb.particle:
                    yield "particle_verb", (*value, verb.particle), Surface(head, marks)
                    yield "particle", verb.particle, Surface(particle)


def _pronouns() -> Iterator[Expressed]:
    for subject, other in PRONOUNS.items():
        yield "nominative", subject, Surface((("PRP", subject),))
        yield "objective", subject, Surface((("PRP", other),))
    for word, marks in zip(
        ("someone", "somebody"), _synonyms(SOMEONE, ("someone", "somebody")), strict=True
    ):
        for category in ("nominative", "objective"):
            yield category, SOMEONE, Surface((("NN", word),), marks)


def _determiners() -> Iterator[Expressed]:
    for number in ("singular", "plural"):
        forms = {"the": "the", "a": "a" if number == "singular" else "some"}
        forms["this"] = "this" if number == "singular" else "these"
        for determiner, word in forms.items():
            yield "determiner", (determiner, number), Surface((("DT", word),))
        for word in POSSESSIVES:
            yield "determiner", (word, number), Surface((("PRP$", word),))
    for word in NUMERALS:
        yield "determiner", (word, "plural"), Surface((("CD", word),))


def _function_words() -> Iterator[Expressed]:
    for relation, phrases in RELATIONS.items():
        yield from _phrases("relation", relation, phrases)
    for direction, phrases in DIRECTIONS.items():
        yield from _phrases("direction", direction, phrases)
    for connective, phrases in CONNECTIVES.items():
        yield from _phrases("connective", connective, phrases)
    for kind, words in (("person", ("who", "that")), ("thing", ("which", "that"))):
        for word, marks in zip(words, _synonyms(f"relative {kind}", words), strict=True):
            yield "relativizer", kind, Surface((("WP" if word == "who" else "WDT", word),), marks)
    for word, tag, value in (
        ("is", "VBZ", ("present", "singular")),
        ("are", "VBP", ("present", "plural")),
        ("was", "VBD", ("past", "singular")),
        ("were", "VBD", ("past", "plural")),
    ):
        yield "be", value, Surface(((tag, word),))
    for word in ("'s", "'"):
        yield "genitive", word, Surface((("POS", word),))


def _surfaces() -> Iterator[Expressed]:
    yield from _nouns()
    yield from _verbs()
    yield from _pronouns()
    yield from _determiners()
    yield from _function_words()
    for name in LEXICON.names:
        yield "name", name.concept, Surface((("NNP", name.english),))
    for adjective in LEXICON.adjectives:
        for category in ("adjective", "quality"):
            words = [english.base for english in adjective.english]
            yield from _phrases(category, adjective.concept, words)
    yield from _adverbs()


def _positions(kind: str, phrase: str) -> Iterator[str]:
    """Yield the categories of an adverb: its kind, with the position where it may stand."""
    if kind == "manner":
        yield "end_manner"
        if phrase.endswith("ly") and " " not in phrase:
            yield "mid_manner"
    elif kind == "frequency":
        if phrase in _MID_FREQUENCY:
            yield "mid_frequency"
        if phrase in _END_FREQUENCY or phrase not in _MID_FREQUENCY:
            yield "end_frequency"
        if phrase in _FRONT_FREQUENCY:
            yield "front_frequency"
    elif kind == "sentence":
        yield "front_attitude"
        if phrase.endswith("ly") and " " not in phrase:
            yield "mid_attitude"
    else:
        yield "place_adverb" if kind == "place" else kind


def _adverbs() -> Iterator[Expressed]:
    for adverb in LEXICON.adverbs:
        marks = _synonyms(adverb.concept, adverb.english)
        for phrase, mark in zip(adverb.english, marks, strict=True):
            for category in _positions(adverb.kind, phrase):
                yield category, adverb.concept, Surface(_tagged("RB", phrase), mark)


def _tables() -> tuple[
    dict[str, dict[Value, tuple[Surface, ...]]], dict[str, dict[str, list[Entry]]]
]:
    forward: dict[str, dict[Value, list[Surface]]] = defaultdict(lambda: defaultdict(list))
    backward: dict[str, dict[str, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for category, value, surface in _surfaces():
        if surface in forward[category][value]:
            continue
        forward[category][value].append(surface)
        words = tuple(word.lower() for _, word in surface.words)
        backward[category][words[0]].append(Entry(words, value, surface.marks))
    for entry in backward["determiner"]["a"]:
        backward["determiner"]["an"].append(Entry(("an",), entry.value, entry.marks))
    return (
        {
            category: {value: tuple(surfaces) for value, surfaces in values.items()}
            for category, values in forward.items()
        },
        {category: dict(words) for category, words in backward.items()},
    )


# category -> value -> surfaces; category -> first word -> entries.
SURFACES, ENTRIES = _tables()
