"""Labelled bracketing F1, the usual measure of a constituency parser (Parseval)."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from workflow_scripts.stages.syntax.trees import Tree, words

Bracket = tuple[str, int, int]


def brackets(tree: Tree) -> Counter[Bracket]:
    """Return the constituents of a tree: label, first character, and the one after the last.

    They count characters without blanks, not words; so trees over other tokens can be compared.
    Parts of speech do not count as constituents.
    """
    counts: Counter[Bracket] = Counter()
    start = 0
    todo: list[tuple[Tree, int | None]] = [(tree, None)]
    while todo:
        node, first = todo.pop()
        if node.word is not None:
            start += len(node.word)
        elif first is not None:
            counts[(node.label, first, start)] += 1
        else:
            todo.append((node, start))
            todo.extend((child, None) for child in reversed(node.children))
    return counts


@dataclass
class Bracketing:
    """Counts over pairs of gold and parsed trees.

    Attributes:
        matched, gold, parsed: numbers of constituents.
        trees: number of pairs.
        exact: pairs with the same constituents.
        same_words: pairs with the same words.
    """

    matched: int = 0
    gold: int = 0
    parsed: int = 0
    trees: int = 0
    exact: int = 0
    same_words: int = 0

    def add(self, gold: Tree, parsed: Tree | None) -> None:
        """Count a sentence; if it has no parsed tree, all its constituents are missed."""
        expected = brackets(gold)
        actual = brackets(parsed) if parsed else Counter()
        self.matched += (expected & actual).total()
        self.gold += expected.total()
        self.parsed += actual.total()
        self.trees += 1
        self.exact += expected == actual
        self.same_words += parsed is not None and words(gold) == words(parsed)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 1 if there is no constituent."""
        both = self.gold + self.parsed
        return 2 * self.matched / both if both else 1.0


def bracketing(pairs: Iterable[tuple[Tree, Tree | None]]) -> Bracketing:
    """Return the counts over pairs of a gold and a parsed tree."""
    counts = Bracketing()
    for gold, parsed in pairs:
        counts.add(gold, parsed)
    return counts
