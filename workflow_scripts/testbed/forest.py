"""Forests: sets of trees that share their subtrees, so that they need little memory.

A forest is an and-or graph: a `Sequence` has one tree of each child, a `Choice` one of its options.
Trees are counted and drawn without a list of all. Marks record the choices that lead to a tree.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from math import prod

# (kind of variation, one of its forms). Two realisations of a meaning differ in their marks.
Mark = tuple[str, str]


@lru_cache(1 << 14)
def marked(concept: str, marks: tuple[Mark, ...]) -> tuple[Mark, ...]:
    """Return marks that also name the concept at which the choice was made."""
    return tuple((kind, f"{concept}: {form}") for kind, form in marks)


@dataclass(frozen=True, slots=True)
class Tree:
    """A constituent: a word under its part-of-speech tag, or children under a phrase label.

    An empty label joins its children to those of the constituent around it.
    """

    label: str
    word: str | None = None
    children: tuple["Tree", ...] = ()

    def words(self) -> Iterator[tuple[str, str]]:
        """Yield (tag, word) from left to right."""
        if self.word is not None:
            yield self.label, self.word
        for child in self.children:
            yield from child.words()


@dataclass(frozen=True, slots=True)
class Drawn:
    """One tree of a forest, and the choices that lead to it."""

    tree: Tree
    marks: tuple[Mark, ...]


# Number of options -> the number of one of them.
Draw = Callable[[int], int]


class Word:
    """A forest of one word."""

    count = 1

    def __init__(self, tag: str, word: str):
        self.drawn = Drawn(Tree(tag, word), ())

    def sample(self, draw: Draw) -> Drawn:
        """Return the word."""
        return self.drawn

    def all(self) -> Iterator[Drawn]:
        """Yield the word."""
        yield self.drawn


@dataclass
class Sequence:
    """A phrase: one tree of each child, under a label."""

    label: str
    children: tuple["Forest", ...]
    marks: tuple[Mark, ...] = ()

    @cached_property
    def count(self) -> int:
        """How many trees there are."""
        return prod(child.count for child in self.children)

    def _join(self, drawn: tuple[Drawn, ...]) -> Drawn:
        marks = self.marks
        for one in drawn:
            marks += one.marks
        return Drawn(Tree(self.label, None, tuple(one.tree for one in drawn)), marks)

    def sample(self, draw: Draw) -> Drawn:
        """Draw every child by itself."""
        return self._join(tuple(child.sample(draw) for child in self.children))

    def all(self) -> Iterator[Drawn]:
        """Yield every tree, the last child's choices changing fastest."""
        if len(self.children) == 1:
            for only in self.children[0].all():
                yield self._join((only,))
            return
        for drawn in product(*(child.all() for child in self.children)):
            yield self._join(drawn)


@dataclass
class Choice:
    """One of several forests, drawn with equal chances."""

    options: tuple["Forest", ...]

    @cached_property
    def count(self) -> int:
        """How many trees there are."""
        return sum(option.count for option in self.options)

    def sample(self, draw: Draw) -> Drawn:
        """Draw an option, then a tree of it."""
        return self.options[draw(len(self.options))].sample(draw)

    def all(self) -> Iterator[Drawn]:
        """Yield the trees of the options in turn."""
        for option in self.options:
            yield from option.all()


class Deferred:
    """A forest that is built when it is needed, as most options of a choice are never drawn."""

    def __init__(self, build: "Callable[[], Forest]"):
        self._build = build

    @cached_property
    def forest(self) -> "Forest":
        """The forest itself."""
        return self._build()

    @property
    def count(self) -> int:
        """How many trees there are."""
        return self.forest.count

    def sample(self, draw: Draw) -> Drawn:
        """Draw a tree."""
        return self.forest.sample(draw)

    def all(self) -> Iterator[Drawn]:
        """Yield every tree."""
        return self.forest.all()


Forest = Word | Sequence | Choice | Deferred


def bracketed(tree: Tree) -> str:
    """Write a tree in the brackets of the Penn Treebank, on one line."""
    return " ".join(_pieces(tree))


def _pieces(tree: Tree) -> Iterator[str]:
    if tree.word is not None:
        yield f"({tree.label} {tree.word})"
        return
    inner = " ".join(piece for child in tree.children for piece in _pieces(child))
    if inner:
        yield f"({tree.label} {inner})" if tree.label else inner
