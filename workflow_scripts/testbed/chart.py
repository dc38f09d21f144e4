"""A chart of the constituents of one English sentence."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, overload

from workflow_scripts.testbed.auxiliaries import GROUPS
from workflow_scripts.testbed.clause_rules import CLAUSES, ClauseRule
from workflow_scripts.testbed.constituents import (
    PHRASE_BUILDERS,
    Builder,
    Parsed,
    Rule,
    Stated,
    stated,
    words_of,
)
from workflow_scripts.testbed.lexical_slots import ENTRIES, Value
from workflow_scripts.testbed.rules import PHRASES, Fixed, PhraseRule, Slot, flat
from workflow_scripts.testbed.structure import NounPhrase


@dataclass
class _Node(Generic[Rule]):
    """A prefix of rules: the categories and words that may follow, and the rules that end here.

    A rule comes with the names of its slots, in order.
    """

    slots: dict[str, "_Node[Rule]"] = field(default_factory=dict)
    words: dict[str, "_Node[Rule]"] = field(default_factory=dict)
    rules: list[tuple[Rule, tuple[str, ...]]] = field(default_factory=list)

    def insert(self, items: tuple[Slot | Fixed, ...], rule: Rule) -> None:
        """Add a rule that consists of these items."""
        node = self
        for item in items:
            if isinstance(item, Slot):
                node = node.slots.setdefault(item.category, _Node())
            else:
                node = node.words.setdefault(item.word, _Node())
        node.rules.append((rule, tuple(item.slot for item in items if isinstance(item, Slot))))


def _phrase_tries() -> dict[str, _Node[PhraseRule]]:
    roots: dict[str, _Node[PhraseRule]] = {category: _Node() for category in PHRASES}
    for category, forms in PHRASES.items():
        for rule in forms:
            roots[category].insert(flat(rule.items), rule)
    return roots


def _clause_tries() -> dict[str, _Node[ClauseRule]]:
    roots: dict[str, _Node[ClauseRule]] = {"declarative": _Node(), "inverted": _Node()}
    rest = Slot("rest", "rest")
    for rule in CLAUSES:
        lead = (Slot("lead", "lead"),) if rule.inverted else ()
        items = (*flat(rule.front), *lead, *flat((rule.subject,)), rest, *flat(rule.body))
        roots["inverted" if rule.inverted else "declarative"].insert(items, rule)
    return roots


def _auxiliaries() -> dict[tuple[str, tuple[str, ...]], tuple[tuple[str, ...], ...]]:
    """Return all sequences of auxiliaries by their position and their first word."""
    starts = defaultdict(set)
    for group in GROUPS:
        lead, rest = words_of(group.lead), words_of(group.rest)
        starts["rest", rest[:1]].add(rest)
        starts["lead", lead[:1]].add(lead)
    return {key: tuple(sorted(sequences)) for key, sequences in starts.items()}


_PHRASE_TRIES = _phrase_tries()
_CLAUSE_TRIES = _clause_tries()
_AUXILIARIES = _auxiliaries()


class Chart:
    """One sentence, and the constituents found in it so far; none is searched twice."""

    def __init__(self, tokens: list[str]):
        self.tokens = [*tokens, ""]
        self._found: dict[tuple[str, int], list[Parsed[Any]]] = {}

    @overload
    def find(
        self, category: Literal["declarative", "inverted"], start: int
    ) -> list[Parsed[Stated]]: ...
    @overload
    def find(self, category: Literal["connective"], start: int) -> list[Parsed[str]]: ...
    @overload
    def find(self, category: str, start: int) -> list[Parsed[Any]]: ...
    def find(self, category: str, start: int) -> list[Parsed[Any]]:
        """Return all constituents of a category that begin at a token.

        The category decides what their values are.
        """
        key = (category, start)
        if key not in self._found:
            self._found[key] = list(self._search(category, start))
        return self._found[key]

    def _search(self, category: str, start: int) -> Iterator[Parsed[Any]]:
        if category in _PHRASE_TRIES:
            yield from self._built(_PHRASE_TRIES[category], PHRASE_BUILDERS[category], start)
        elif category in _CLAUSE_TRIES:
            yield from self._built(_CLAUSE_TRIES[category], stated, start)
        elif category in ("rest", "lead"):
            yield from self._auxiliaries(category, start)
        elif category in ("subject", "agent"):
            yield from self._entries("nominative" if category == "subject" else "objective", start)
            yield from self.find("phrase", start)
        else:
            yield from self._entries(category, start)

    def _built(self, root: _Node[Rule], build: Builder[Rule], start: int) -> Iterator[Parsed[Any]]:
        for rule, slots, values, end in self._walk(root, start, ()):
            named = dict(zip(slots, values, strict=True))
            yield from build(self.tokens, rule, named, start, end)

    def _walk(
        self, node: _Node[Rule], at: int, values: tuple[Parsed[Any], ...]
    ) -> Iterator[tuple[Rule, tuple[str, ...], tuple[Parsed[Any], ...], int]]:
        for rule, slots in node.rules:
            yield rule, slots, values, at
        if node.words and (child := node.words.get(self.tokens[at])):
            yield from self._walk(child, at + 1, values)
        for category, child in node.slots.items():
            for parsed in self.find(category, at):
                yield from self._walk(child, parsed.end, (*values, parsed))

    def _auxiliaries(self, position: str, start: int) -> Iterator[Parsed[tuple[str, ...]]]:
        if position == "rest":
            yield Parsed(start, start, (), ())
        for words in _AUXILIARIES.get((position, (self.tokens[start],)), ()):
            end = start + len(words)
            if tuple(self.tokens[start:end]) == words:
                yield Parsed(start, end, words, ())

    def _entries(self, category: str, start: int) -> Iterator[Parsed[Value | NounPhrase]]:
        for entry in ENTRIES[category].get(self.tokens[start], ()):
            end = start + len(entry.words)
            if len(entry.words) == 1 or tuple(self.tokens[start:end]) == entry.words:
                value: Value | NounPhrase = entry.value
                if category in ("nominative", "objective") and isinstance(entry.value, str):
                    value = NounPhrase(entry.value, "pronoun", determiner=None)
                yield Parsed(start, end, value, entry.marks)
