"""English sentences back to their meanings: a chart parser over the rules that generate them."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from workflow_scripts.testbed.agreement import relativizer
from workflow_scripts.testbed.auxiliaries import GROUPS, Group
from workflow_scripts.testbed.clauses import BE_FRAMES, fits, stative
from workflow_scripts.testbed.forest import Mark, marked
from workflow_scripts.testbed.rules import (
    CLAUSES,
    PHRASES,
    ClauseRule,
    Literal,
    PhraseRule,
    Slot,
    flat,
)
from workflow_scripts.testbed.structure import (
    Clause,
    Meaning,
    NounPhrase,
    Place,
    Relative,
    well_formed,
)
from workflow_scripts.testbed.tags import question_tags
from workflow_scripts.testbed.tokens import tokenised
from workflow_scripts.testbed.vocabulary import ENTRIES
from workflow_scripts.testbed.words import LEXICON, article

Marks = tuple[Mark, ...]


class Found(NamedTuple):
    """A constituent of a sentence.

    Attributes:
        start, end: its tokens.
        value: what it means; a relative clause whose tense is unmarked has `past` None.
        marks: the choices it embodies.
        layout: of a clause, its rule and verb group.
    """

    start: int
    end: int
    value: Any
    marks: Marks
    layout: tuple[ClauseRule, Group] | None = None


@dataclass
class _Node:
    """A prefix of rules: which categories and words may follow, which rules end here."""

    slots: dict[str, "_Node"] = field(default_factory=dict)
    words: dict[str, "_Node"] = field(default_factory=dict)
    rules: list[tuple[Any, tuple[str, ...]]] = field(default_factory=list)


def _insert(root: _Node, items: tuple[Slot | Literal, ...], rule: Any) -> None:
    node = root
    for item in items:
        if isinstance(item, Literal):
            node = node.words.setdefault(item.word, _Node())
        else:
            node = node.slots.setdefault(item.category, _Node())
    node.rules.append((rule, tuple(item.slot for item in items if isinstance(item, Slot))))


def _tries() -> dict[str, _Node]:
    roots: dict[str, _Node] = defaultdict(_Node)
    for category, rules in PHRASES.items():
        for rule in rules:
            _insert(roots[category], flat(rule.items), rule)
    rest = Slot("rest", "rest")
    for rule in CLAUSES:
        lead = (Slot("lead", "lead"),) if rule.inverted else ()
        items = (*flat(rule.front), *lead, *flat((rule.subject,)), rest, *flat(rule.body))
        _insert(roots["inverted" if rule.inverted else "declarative"], items, rule)
    return dict(roots)


def _words(tagged: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    return tuple(word for _, word in tagged)


def _group_tables() -> tuple[dict, dict]:
    """Return the groups by their words, and the word sequences by first word and position."""
    groups, starts = defaultdict(list), defaultdict(set)
    for group in GROUPS:
        lead, rest = _words(group.lead), _words(group.rest)
        groups[lead, rest, group.passive, group.form].append(group)
        starts["rest", rest[:1]].add(rest)
        if lead:
            starts["lead", lead[:1]].add(lead)
    return dict(groups), {key: tuple(sorted(found)) for key, found in starts.items()}


_TRIES = _tries()
_GROUPS, _STARTS = _group_tables()
# Verb slots of the three clause kinds are filled by an entry (concept, form[, particle]).
_CLAUSE_KINDS = ("declarative", "inverted")


class Chart:
    """One sentence, and the constituents found so far: each is looked for once."""

    def __init__(self, tokens: list[str]):
        self.tokens = [*tokens, ""]
        self._found: dict[tuple[str, int], list[Found]] = {}

    def find(self, category: str, start: int) -> list[Found]:
        """Return all constituents of a category that begin at a token."""
        key = (category, start)
        if key not in self._found:
            self._found[key] = list(self._search(category, start))
        return self._found[key]

    def _search(self, category: str, start: int) -> Iterator[Found]:
        if category in _TRIES:
            build = _BUILDERS[category]
            for rule, slots, values, end in self._walk(_TRIES[category], start, ()):
                yield from build(self, rule, dict(zip(slots, values, strict=True)), start, end)
        elif category in ("rest", "lead"):
            yield from self._auxiliaries(category, start)
        elif category in ("subject", "agent"):
            yield from self._entries("nominative" if category == "subject" else "objective", start)
            yield from self.find("phrase", start)
        else:
            yield from self._entries(category, start)

    def _walk(self, node: _Node, at: int, values: tuple[Found, ...]) -> Iterator[tuple]:
        for rule, slots in node.rules:
            yield rule, slots, values, at
        if node.words and (child := node.words.get(self.tokens[at])):
            yield from self._walk(child, at + 1, values)
        for category, child in node.slots.items():
            for found in self.find(category, at):
                yield from self._walk(child, found.end, (*values, found))

    def _auxiliaries(self, position: str, start: int) -> Iterator[Found]:
        if position == "rest":
            yield Found(start, start, (), ())
        for words in _STARTS.get((position, (self.tokens[start],)), ()):
            end = start + len(words)
            if tuple(self.tokens[start:end]) == words:
                yield Found(start, end, words, ())

    def _entries(self, category: str, start: int) -> Iterator[Found]:
        for entry in ENTRIES[category].get(self.tokens[start], ()):
            end = start + len(entry.words)
            if len(entry.words) == 1 or tuple(self.tokens[start:end]) == entry.words:
                value = entry.value
                if category in ("nominative", "objective"):
                    value = NounPhrase(value, "pronoun", determiner=None)
                yield Found(start, end, value, entry.marks)


def _marks(values: dict[str, Found]) -> Marks:
    return tuple(mark for found in values.values() for mark in found.marks)


def _noun(values: dict[str, Found], determiner: str | None) -> NounPhrase:
    concept, number = values["head"].value
    adjective = values["adjective"].value if "adjective" in values else None
    return NounPhrase(concept, "noun", number, determiner, adjective)


def _plain(
    chart: Chart, rule: PhraseRule, values: dict[str, Found], start: int, end: int
) -> Iterator[Found]:
    marks = _marks(values)
    if rule.name == "name":
        yield Found(start, end, NounPhrase(values["head"].value, "name", determiner=None), marks)
        return
    determiner, number = values["determiner"].value
    word, following = chart.tokens[start : start + 2]
    if number != values["head"].value[1] or (word in ("a", "an") and word != article(following)):
        return
    yield Found(start, end, _noun(values, determiner), marks)


def _phrase(
    chart: Chart, rule: PhraseRule, values: dict[str, Found], start: int, end: int
) -> Iterator[Found]:
    marks = _marks(values)
    if rule.name == "plain":
        yield Found(start, end, values["base"].value, marks)
    elif rule.name == "owned":
        possessor = values["possessor"].value
        if "genitive" in values:
            last = chart.tokens[values["genitive"].start - 1]
            bare = possessor.number == "plural" and last.endswith("s")
            if values["genitive"].value != ("'" if bare else "'s"):
                return
        owned = replace(_noun(values, None), possessor=possessor)
        yield Found(start, end, owned, marked(owned.head, rule.marks) + marks)
    else:
        base, (relative, number, kind) = values["base"].value, values["relative"].value
        if base.kind != "noun" or number not in (None, base.number):
            return
        if kind in (None, relativizer(base.head)):
            yield Found(start, end, replace(base, relative=relative), marks)


def _relative(
    chart: Chart, rule: PhraseRule, values: dict[str, Found], start: int, end: int
) -> Iterator[Found]:
    """Find a relative clause; its value is (relative, number of its head, kind of its head)."""
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
    yield Found(start, end, (relative, number, kind), marked(verb, rule.marks) + _marks(values))


def _place(
    chart: Chart, rule: PhraseRule, values: dict[str, Found], start: int, end: int
) -> Iterator[Found]:
    phrase = values["phrase"].value if "phrase" in values else None
    place = Place(values["relation"].value, phrase)
    yield Found(start, end, place, _marks(values))


def _settled(value: Any, past: bool) -> Any:
    """Give an unmarked relative clause the tense around it; None if it has the other one."""
    relative = value.relative if isinstance(value, NounPhrase) else None
    if relative is None or relative.past is past:
        return value
    if relative.past is None:
        return replace(value, relative=replace(relative, past=past))
    return None


def _tense(key: str, rule: ClauseRule, verb: str, frequency: bool) -> str | None:
    """Return the tense that an English tense expresses; None if it can't be this verb's."""
    if key == "simple":
        if frequency:
            return "habitual"
        return "present" if stative(rule.frame, verb) else "eventual"
    if frequency or (key in ("present", "past_progressive") and stative(rule.frame, verb)):
        return None
    return key


def _clause(
    chart: Chart, rule: ClauseRule, values: dict[str, Found], start: int, end: int
) -> Iterator[Found]:
    verb, form = "be", "participle"
    if rule.frame not in BE_FRAMES:
        verb, form, *particle = values["verb"].value
        if LEXICON.verb[verb].frame != rule.frame:
            return
        if particle and particle[0] != values["particle"].value:
            return
    lead = values["lead"].value if rule.inverted else ()
    arguments = {
        slot: found.value for slot, found in values.items() if slot not in _GRAMMAR_OF_CLAUSES
    }
    if rule.agentless:
        arguments["subject"] = _SOMEONE
    for group in _GROUPS.get((lead, values["rest"].value, rule.passive, form), ()):
        tense = _tense(group.key, rule, verb, "frequency" in values)
        if tense is None:
            continue
        past = tense in ("past", "past_progressive")
        settled = {slot: _settled(value, past) for slot, value in arguments.items()}
        if None in settled.values():
            continue
        clause = Clause(rule.frame, verb=verb, tense=tense, negative=group.negative, **settled)
        if fits(rule, group, clause):
            marks = marked(clause.topic, rule.marks + group.marks) + _marks(values)
            yield Found(start, end, clause, marks, (rule, group))


_GRAMMAR_OF_CLAUSES = frozenset({"verb", "particle", "lead", "rest"})
_SOMEONE = NounPhrase("someone", "pronoun", determiner=None)
_BUILDERS = {
    "plain": _plain,
    "phrase": _phrase,
    "relative": _relative,
    "place": _place,
    "goal": _place,
    "declarative": _clause,
    "inverted": _clause,
}


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to understand a sentence, and the choices that it was said with."""

    meaning: Meaning
    variations: Marks


def _reading(marks: Marks, mood: str, main: Found, connective=None, subordinate=None) -> Reading:
    parts = [found for found in (main, subordinate) if found is not None]
    marks += tuple(mark for found in parts for mark in found.marks)
    clauses = main.value, connective, subordinate.value if subordinate else None
    return Reading(Meaning(mood, *clauses), tuple(sorted(marks)))


def _statements(chart: Chart, last: int) -> Iterator[Reading]:
    for main in chart.find("declarative", 0):
        if main.value.frame == "clausal":
            yield from _contents(chart, main, last)
        elif main.end == last:
            yield _reading((), "statement", main)
        else:
            yield from _main_first(chart, main, last)
    for connective in chart.find("connective", 0):
        for subordinate in _unfronted(chart, connective.end):
            if chart.tokens[subordinate.end] != ",":
                continue
            marks = (*connective.marks, ("clause order", "subordinate first"))
            for main in _unfronted(chart, subordinate.end + 1):
                if main.end == last:
                    yield _reading(marks, "statement", main, connective.value, subordinate)


def _unfronted(chart: Chart, start: int) -> Iterator[Found]:
    """Yield the clauses that begin with their subject and may depend on another one."""
    for found in chart.find("declarative", start):
        if not found.layout[0].front and found.value.frame != "clausal":
            yield found


def _contents(chart: Chart, main: Found, last: int) -> Iterator[Reading]:
    starts = [(main.end, ("that", "dropped"))]
    if chart.tokens[main.end] == "that":
        starts.append((main.end + 1, ("that", "said")))
    for start, mark in starts:
        for subordinate in _unfronted(chart, start):
            if subordinate.end == last:
                yield _reading((mark,), "statement", main, "that", subordinate)


def _main_first(chart: Chart, main: Found, last: int) -> Iterator[Reading]:
    for connective in chart.find("connective", main.end):
        marks = (*connective.marks, ("clause order", "main first"))
        for subordinate in _unfronted(chart, connective.end):
            if subordinate.end == last:
                yield _reading(marks, "statement", main, connective.value, subordinate)


def _questions(chart: Chart, last: int) -> Iterator[Reading]:
    for main in chart.find("inverted", 0):
        if main.end == last:
            yield _reading((("question", "inverted"),), "question", main)
    if chart.tokens[:4] == ["is", "it", "true", "that"]:
        for main in _unfronted(chart, 4):
            if main.end == last:
                yield _reading((("question", "is it true"),), "question", main)
    for main in chart.find("declarative", 0):
        if chart.tokens[main.end] == ",":
            said = tuple(chart.tokens[main.end + 1 : last])
            for words, mark in question_tags(main.value, *main.layout):
                if said == tuple(word.lower() for _, word in words):
                    yield _reading((mark,), "confirmation", main)


def readings(sentence: str) -> list[Reading]:
    """Return every way to understand a sentence; none if the grammar doesn't have it.

    Letter case and blanks don't matter, punctuation does.
    """
    tokens = tokenised(sentence)
    if not tokens or tokens[-1] not in (".", "?"):
        return []
    last = len(tokens) - 1
    find = _statements if tokens[-1] == "." else _questions
    found = [one for one in find(Chart(tokens), last) if well_formed(one.meaning)]
    return list(dict.fromkeys(found))
