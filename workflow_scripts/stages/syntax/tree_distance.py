"""Tree edit distance between truncated trees, each pair of shapes once (ParaBank 2, 3.6)."""

from dataclasses import dataclass
from functools import lru_cache

from workflow_scripts.stages.syntax.trees import Tree, parse, truncate

# An entry has a few hundred bytes: at most some 100 MB, however large the corpus.
_PAIRS = 1 << 17
_TREES = 1 << 15


@dataclass(frozen=True, slots=True)
class Ordered:
    """A tree in postorder.

    Attributes:
        labels: of the nodes; a node stands after its children.
        leftmost: for each node, the number of the first node of its subtree.
        keyroots: the root, and the nodes with a left sister: for each value of `leftmost`, the
            last node that has it.
    """

    labels: list[str]
    leftmost: list[int]
    keyroots: list[int]


def ordered(bracketed: str) -> Ordered:
    """Return a truncated tree, as `trees.truncate` writes it, in postorder."""
    labels: list[str] = []
    leftmost: list[int] = []
    stack: list[tuple[str, int]] = []
    for token in bracketed.replace(")", " )").split():
        if token == ")":
            label, first = stack.pop()
            labels.append(label)
            leftmost.append(first)
        else:
            stack.append((token[1:], len(labels)))
    last = {first: node for node, first in enumerate(leftmost)}
    return Ordered(labels, leftmost, sorted(last.values()))


def edit_distance(one: Ordered, other: Ordered) -> int:
    """Return how many nodes must at least be deleted, inserted or renamed (Zhang, Shasha 1989)."""
    rows, columns = len(one.labels), len(other.labels)
    trees = [[0] * columns for _ in range(rows)]
    for root in one.keyroots:
        for other_root in other.keyroots:
            _fill(trees, one, other, root, other_root)
    return trees[rows - 1][columns - 1]


def _fill(trees: list[list[int]], one: Ordered, other: Ordered, root: int, other_root: int) -> None:
    """Set the distances of all pairs of subtrees with the same first nodes as these two roots'."""
    first, other_first = one.leftmost[root], other.leftmost[other_root]
    labels, lefts = other.labels, other.leftmost
    # forests[i][j]: between the first i nodes of one root's subtree and j of the other's.
    above = list(range(other_root - other_first + 2))
    forests = [above]
    for node in range(first, root + 1):
        label, left = one.labels[node], one.leftmost[node]
        distances, before = trees[node], forests[left - first]
        cell = above[0] + 1
        row = [cell]
        for place, other_node in enumerate(range(other_first, other_root + 1)):
            # Comparisons, not min(), which is slower: this loop takes nearly all the time.
            least = (above[place + 1] if above[place + 1] < cell else cell) + 1
            other_left = lefts[other_node]
            whole = left == first and other_left == other_first
            if whole:
                cell = above[place] + (label != labels[other_node])
            else:
                cell = before[other_left - other_first] + distances[other_node]
            if least < cell:
                cell = least
            if whole:
                distances[other_node] = cell
            row.append(cell)
        forests.append(row)
        above = row


class TreeDistance:
    """Distances between the top levels of trees; the distance of known shapes is remembered.

    Attributes:
        levels: how many levels count; the sentence's own node is the first.
    """

    def __init__(self, levels: int):
        self.levels = levels
        self._ordered = lru_cache(_TREES)(ordered)
        self._distance = lru_cache(_PAIRS)(self._compute)

    def shape(self, tree: Tree | str) -> str:
        """Return the top of a tree, given as such or in brackets, as `between` takes it."""
        return truncate(parse(tree) if isinstance(tree, str) else tree, self.levels)

    def between(self, one: str, other: str) -> int:
        """Return the edit distance of two shapes; every operation costs 1."""
        if one == other:
            return 0
        return self._distance(one, other) if one < other else self._distance(other, one)

    def _compute(self, one: str, other: str) -> int:
        return edit_distance(self._ordered(one), self._ordered(other))
