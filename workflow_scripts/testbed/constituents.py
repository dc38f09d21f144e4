"""The meaning of a constituent, from the values that a parser found for the slots of its rule.

Each function is the inverse of what `phrases` or `clauses` do with a rule. It yields the
constituent, or nothing where the values do not agree with each other.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar

from workflow_scripts.testbed.agreement import relativizer
from workflow_scripts.testbed.auxiliaries import GROUPS, EnglishTense, Group, TaggedWords
from workflow_scripts.testbed.clause_rules import ClauseRule
from workflow_scripts.testbed.clauses import BE_FRAMES, fits, stative
from workflow_scripts.testbed.forest import Mark, marked
from workflow_scripts.testbed.rules import PhraseRule
from workflow_scripts.testbed.structure import (
    SOMEONE,
    Clause,
    NounPhrase,
    Place,
    Relative,
    Tense,
)
from workflow_scripts.testbed.word_list import LEXICON, article

Marks = tuple[Mark, ...]
Value = TypeVar("Value")
Rule = TypeVar("Rule", PhraseRule, ClauseRule)


class Parsed(NamedTuple, Generic[Value]):
    """A constituent of a sentence.

    Attributes:
        start, end: its tokens.
        value: what it means. A relative clause has `past` None if its words don't show the tense.
        marks: the choices that it stands for.
    """

    start: int
    end: int
    value: Value
    marks: Marks


class Stated(NamedTuple):
    """The value of a clause: its meaning, with the rule and the verb group that express it."""

    clause: Clause
    rule: ClauseRule
    group: Group


# The constituents in the slots of a rule, by slot; the slot decides what their values are.
Filled = dict[str, Parsed[Any]]


# Slots of a clause rule that are no attributes of a `Clause`.
_AUXILIARY_SLOTS = frozenset({"verb", "particle", "lead", "rest"})
_SOMEONE = NounPhrase(SOMEONE, "pronoun", determiner=None)


def words_of(tagged: TaggedWords) -> tuple[str, ...]:
    """Return words without their tags."""
    return tuple(word for _, word in tagged)


def _groups() -> dict[tuple[tuple[str, ...], tuple[str, ...], bool, str], tuple[Group, ...]]:
    table = defaultdict(list)
    for group in GROUPS:
        key = (words_of(group.lead), words_of(group.rest), group.passive, group.form)
        table[key].append(group)
    return {key: tuple(groups) for key, groups in table.items()}


_GROUPS = _groups()


def _marks(values: Filled) -> Marks:
    return tuple(mark for parsed in values.values() for mark in parsed.marks)


def _noun(values: Filled, determiner: str | None) -> NounPhrase:
    concept, number = values["head"].value
    adjective = values["adjective"].value if "adjective" in values else None
    return NounPhrase(concept, "noun", number, determiner, adjective)


def _plain(
    tokens: list[str], rule: PhraseRule, values: Filled, start: int, end: int
) -> Iterator[Parsed[NounPhrase]]:
    marks = _marks(values)
    if rule.name == "name":
        yield Parsed(start, end, NounPhrase(values["head"].value, "name", determiner=None), marks)
        return
    determiner, number = values["determiner"].value
    word, following = tokens[start : start + 2]
    if number != values["head"].value[1] or (word in ("a", "an") and word != article(following)):
        return
    yield Parsed(start, end, _noun(values, determiner), marks)


def _phrase(
    tokens: list[str], rule: PhraseRule, values: Filled, start: int, end: int
) -> Iterator[Parsed[NounPhrase]]:
    marks = _marks(values)
    if rule.name == "plain":
        yield Parsed(start, end, values["base"].value, marks)
    elif rule.name == "owned":
        possessor = values["possessor"].value
        if "genitive" in values:
            last = tokens[values["genitive"].start - 1]
            bare = possessor.number == "plural" and last.endswith("s")
            if values["genitive"].value != ("'" if bare else "'s"):
                return
        owned = replace(_noun(values, None), possessor=possessor)
        yield Parsed(start, end, owned, marked(owned.head, rule.marks) + marks)
    else:
        base, (relative, number, kind) = values["base"].value, values["relative"].value
        if base.kind != "noun" or number not in (None, base.number):
            return
        if kind in (None, relativizer(base.head)):
            yield Parsed(start, end, replace(base, relative=relative), marks)


def _relative(
    tokens: list[str], rule: PhraseRule, values: Filled, start: int, end: int
) -> Iterator[Parsed[tuple[Relative, str | None, str | None]]]:
    """Yield a relative clause: (relative, number of its head, kind of its head)."""
    verb, form = values["verb"].value
    if form != "gerund":
        return
    tense, number = values["past"].value if "past" in values else (None, None)
    kind = values["relativizer"].value if "relativizer" in values else None
    relative = Relative(
        verb,
        None if tense is None else tense == "past",
        values["object"].value if "object" in values else None,
        values["place"].value if "place" in values else None,
    )
    yield Parsed(start, end, (relative, number, kind), marked(verb, rule.marks) + _marks(values))


def _place(
    tokens: list[str], rule: PhraseRule, values: Filled, start: int, end: int
) -> Iterator[Parsed[Place]]:
    phrase = values["phrase"].value if "phrase" in values else None
    place = Place(values["relation"].value, phrase)
    yield Parsed(start, end, place, _marks(values))


def _settled(attributes: dict[str, Any], past: bool) -> dict[str, Any] | None:
    """Give relative clauses the tense of the clause around them; None if one has another."""
    settled = dict(attributes)
    for slot, value in attributes.items():
        relative = value.relative if isinstance(value, NounPhrase) else None
        if relative is None or relative.past is past:
            continue
        if relative.past is not None:
            return None
        settled[slot] = replace(value, relative=replace(relative, past=past))
    return settled


def _tense(key: EnglishTense, rule: ClauseRule, verb: str, frequency: bool) -> Tense | None:
    """Return the tense that an English tense expresses; None if this verb can't have it."""
    if key == "simple":
        if frequency:
            return "habitual"
        return "present" if stative(rule.frame, verb) else "eventual"
    if frequency or (key in ("present", "past_progressive") and stative(rule.frame, verb)):
        return None
    return key


def stated(
    tokens: list[str], rule: ClauseRule, values: Filled, start: int, end: int
) -> Iterator[Parsed[Stated]]:
    """Yield a clause in every meaning that the values of its rule's slots can have."""
    verb, form = "be", "participle"
    if rule.frame not in BE_FRAMES:
        verb, form, *particle = values["verb"].value
        if LEXICON.verb[verb].frame != rule.frame:
            return
        if particle and particle[0] != values["particle"].value:
            return
    lead = values["lead"].value if rule.inverted else ()
    attributes = {
        slot: parsed.value for slot, parsed in values.items() if slot not in _AUXILIARY_SLOTS
    }
    if rule.agentless:
        attributes["subject"] = _SOMEONE
    for group in _GROUPS.get((lead, values["rest"].value, rule.passive, form), ()):
        tense = _tense(group.key, rule, verb, "frequency" in values)
        if tense is None:
            continue
        settled = _settled(attributes, tense in ("past", "past_progressive"))
        if settled is None:
            continue
        clause = Clause(rule.frame, verb=verb, tense=tense, negative=group.negative, **settled)
        if fits(rule, group, clause):
            marks = marked(clause.topic, rule.marks + group.marks) + _marks(values)
            yield Parsed(start, end, Stated(clause, rule, group), marks)


# (tokens of the sentence, rule, values of its slots, start, end) -> constituents.
Builder = Callable[[list[str], Rule, Filled, int, int], Iterator[Parsed[Any]]]
PHRASE_BUILDERS: dict[str, Builder[PhraseRule]] = {
    "plain": _plain,
    "phrase": _phrase,
    "relative": _relative,
    "place": _place,
    "goal": _place,
}
