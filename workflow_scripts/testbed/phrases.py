"""English noun phrases, relative clauses and places: all the ways to say each."""

from dataclasses import replace
from functools import lru_cache

from workflow_scripts.testbed.agreement import relativizer
from workflow_scripts.testbed.forest import Choice, Forest, Sequence, Word, marked
from workflow_scripts.testbed.lexical_slots import SURFACES, Value
from workflow_scripts.testbed.rules import (
    GRAMMATICAL,
    PHRASES,
    Constituent,
    Fixed,
    Item,
    PhraseRule,
)
from workflow_scripts.testbed.structure import NounPhrase, Place, Relative

_CACHE = 1 << 16


def choice(options: list[Forest]) -> Forest:
    """Return the forest that offers each of some forests; a single one as it is."""
    return options[0] if len(options) == 1 else Choice(tuple(options))


@lru_cache(_CACHE)
def lexical(category: str, value: Value) -> Forest:
    """Return the words for a value of a lexical slot."""
    return choice(
        [
            Sequence("", tuple(Word(tag, word) for tag, word in surface.words), surface.marks)
            for surface in SURFACES[category][value]
        ]
    )


def build(item: Item, values: dict[str, Forest]) -> Forest:
    """Return the forest of a rule's item; `values` holds the forests of its slots."""
    if isinstance(item, Fixed):
        return Word(item.tag, item.word)
    if isinstance(item, Constituent):
        return Sequence(item.label, tuple(build(inner, values) for inner in item.items))
    return values[item.slot]


def _phrase(rule: PhraseRule, values: dict[str, Forest], concept: str) -> Forest:
    items = tuple(build(item, values) for item in rule.items)
    return Sequence(rule.label, items, marked(concept, rule.marks))


def _fitting(category: str, values: dict[str, Forest], concept: str) -> Forest:
    """Return all forms of a category that express exactly these values; marks name the concept."""
    slots = frozenset(values) - GRAMMATICAL
    return choice(
        [_phrase(rule, values, concept) for rule in PHRASES[category] if rule.slots == slots]
    )


def _noun(phrase: NounPhrase) -> dict[str, Forest]:
    values = {"head": lexical("noun", (phrase.head, phrase.number))}
    if phrase.adjective:
        values["adjective"] = lexical("adjective", phrase.adjective)
    return values


@lru_cache(_CACHE)
def plain(phrase: NounPhrase) -> Forest:
    """Return the forms of a name, or of a noun with determiner and adjective."""
    if phrase.kind == "name":
        return Sequence("NP", (lexical("name", phrase.head),))
    determiner = lexical("determiner", (phrase.determiner, phrase.number))
    return _fitting("plain", {**_noun(phrase), "determiner": determiner}, phrase.head)


@lru_cache(_CACHE)
def noun_phrase(phrase: NounPhrase, case: str = "nominative") -> Forest:
    """Return all forms of a noun phrase; `case` is that of pronouns, or "objective"."""
    if phrase.kind == "pronoun":
        return Sequence("NP", (lexical(case, phrase.head),))
    if phrase.relative:
        values = {
            "base": plain(replace(phrase, relative=None)),
            "relative": _relative(phrase.relative, phrase),
        }
    elif phrase.possessor:
        possessor, mark = plain(phrase.possessor), Word("POS", "'s")
        values = {**_noun(phrase), "possessor": possessor, "genitive": mark}
    else:
        values = {"base": plain(phrase)}
    return _fitting("phrase", values, phrase.head)


def _relative(relative: Relative, head: NounPhrase) -> Forest:
    tense = "past" if relative.past else "present"
    values = {
        "verb": lexical("verb", (relative.verb, "gerund")),
        "past": lexical("be", (tense, head.number)),
        "relativizer": lexical("relativizer", relativizer(head.head)),
    }
    if relative.object:
        values["object"] = plain(relative.object)
    else:
        values["place"] = place(relative.place)
    return _fitting("relative", values, relative.verb)


@lru_cache(_CACHE)
def place(where: Place, category: str = "place") -> Forest:
    """Return all forms of a place, or with category "goal" of a direction."""
    if where.phrase is None:
        return _fitting(
            category, {"relation": lexical("place_adverb", where.relation)}, where.relation
        )
    kind = "relation" if category == "place" else "direction"
    values = {"relation": lexical(kind, where.relation), "phrase": plain(where.phrase)}
    return _fitting(category, values, where.relation)
