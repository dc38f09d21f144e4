"""Constituency trees in the brackets of the Penn Treebank, and their top levels."""

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from workflow_scripts.core.errors import InputError

# The node that parsers put above the sentence. All trees have it, so it is no level.
ROOTS = {"ROOT", "TOP", ""}
_TOKEN = re.compile(r"[()]|[^()\s]+")


@dataclass(frozen=True, slots=True)
class Tree:
    """A node: a constituent with children, or a part of speech with its word.

    Attributes:
        label: of the constituent or part of speech.
        children: of a constituent; a part of speech has none.
        word: of a part of speech, else None.
    """

    label: str
    children: tuple["Tree", ...] = ()
    word: str | None = None


def parse(bracketed: str) -> Tree:
    """Read one tree, e.g. `(ROOT (S (NP (PRP I)) (VP (VBP run)) (. .)))`.

    Returns:
        The sentence's own node: roots above it with this one child are taken off.

    Raises:
        InputError: the text is not exactly one tree with a word below every branch.
    """
    tree = _read(bracketed)
    while tree.label in ROOTS and len(tree.children) == 1:
        tree = tree.children[0]
    return tree


def _read(bracketed: str) -> Tree:
    # A stack of open nodes, as real parses can be deeper than Python's recursion.
    tokens = _TOKEN.findall(bracketed)
    stack: list[tuple[str, list[Tree]]] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        if token == "(":
            place += 1
            label = ""
            if place < len(tokens) and tokens[place] not in "()":
                label = tokens[place]
                place += 1
            if tokens[place + 1 : place + 2] == [")"] and tokens[place] not in "()":
                node = Tree(label, word=tokens[place])
                place += 2
            else:
                stack.append((label, []))
                continue
        elif token == ")" and stack and stack[-1][1]:
            label, children = stack.pop()
            node = Tree(label, tuple(children))
            place += 1
        else:
            break
        if not stack:
            if place == len(tokens):
                return node
            break
        stack[-1][1].append(node)
    raise InputError(f"not one tree in brackets: {bracketed[:200]!r}; write (S (NP (PRP I)) ...)")


def words(tree: Tree) -> list[str]:
    """Return the words of a tree, in order."""
    result, todo = [], [tree]
    while todo:
        node = todo.pop()
        if node.word is not None:
            result.append(node.word)
        todo.extend(reversed(node.children))
    return result


def truncate(tree: Tree, levels: int) -> str:
    """Return the top of a tree, without words: with 2 levels `(S (NP) (VP) (.))`."""
    below = "".join(f" {truncate(child, levels - 1)}" for child in tree.children * (levels > 1))
    return f"({tree.label}{below})"


def entropy(strings: Iterable[str]) -> float:
    """Return the entropy, in nats, of the distribution of strings; 0 if there is none.

    The strings of ParaNMT-50M's Table 1 (parse entropy) are trees truncated to two levels.
    """
    counts = Counter(strings)
    total = counts.total()
    return sum(count / total * math.log(total / count) for count in counts.values())
