"""A chart of the constituents of one English sentence."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from workflow_scripts.testbed.auxiliaries import GROUPS
from workflow_scripts.testbed.clause_rules import CLAUSES
from workflow_scripts.testbed.constituents import BUILDERS, Found, words_of
from workflow_scripts.testbed.rules import PHRASES, Literal, Slot, flat
from workflow_scripts.testbed.structure import NounPhrase
from workflow_scripts.testbed.vocabulary import ENTRIES


@dataclass
class _Node:
    """A prefix of rules: which categories and words may follow, which rules end here.

    A rule comes with the names of its slots, in order.
    """

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


def _auxiliaries() -> dict[tuple[str, tuple[str, ...]], tuple[tuple[str, ...], ...]]:
    """Return all sequences of auxiliaries by where they stand and how they begin."""
    starts = defaultdict(set)
    for group in GROUPS:
        lead, rest = words_of(group.lead), words_of(group.rest)
        starts["rest", rest[:1]].add(rest)
        starts["lead", lead[:1]].add(lead)
    return {key: tuple(sorted(found)) for key, found in starts.items()}


_TRIES = _tries()
_AUXILIARIES = _auxiliaries()


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
            build = BUILDERS[category]
            for rule, slots, values, end in self._walk(_TRIES[category], start, ()):
                named = dict(zip(slots, values, strict=True))
                yield from build(self.tokens, rule, named, start, end)
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
        for words in _AUXILIARIES.get((position, (self.tokens[start],)), ()):
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
