"""Tree edit distance between truncated trees, each pair of shapes once (ParaBank 2, 3.6).

The library apted computes it (Pawlik and Augsten, 2016); every operation costs 1.
"""

from functools import cache, lru_cache

from apted import APTED
from apted.helpers import Tree as Nested

from workflow_scripts.stages.syntax.trees import Tree, parse, truncate

# An entry has a few hundred bytes, a tree some kilobytes: at most some 100 MB, however large the
# corpus.
_PAIRS = 1 << 17
_TREES = 1 << 15


def nested(shape: str) -> Nested:
    """Return a tree as apted takes it; `trees.truncate` wrote it."""
    open_nodes = [Nested("")]
    for token in shape.replace(")", " )").split():
        if token == ")":
            node = open_nodes.pop()
            open_nodes[-1].children.append(node)
        else:
            open_nodes.append(Nested(token[1:]))
    return open_nodes[0].children[0]


class TreeDistance:
    """Distances between the top levels of trees; the distance of known shapes is remembered.

    Attributes:
        levels: how many levels count; the sentence's own node is the first.
    """

    def __init__(self, levels: int):
        self.levels = levels
        self._nested = lru_cache(_TREES)(nested)
        self._distance = lru_cache(_PAIRS)(self._compute)

    def shape(self, tree: Tree | str) -> str:
        """Return the top of a tree, which may be in brackets, as `between` takes it."""
        return truncate(parse(tree) if isinstance(tree, str) else tree, self.levels)

    def between(self, one: str, other: str) -> int:
        """Return the edit distance of two shapes; every operation costs 1."""
        if one == other:
            return 0
        return self._distance(one, other) if one < other else self._distance(other, one)

    def of_trees(self, one: Tree | str, other: Tree | str) -> int:
        """Return the edit distance of the tops of two trees."""
        return self.between(self.shape(one), self.shape(other))

    def _compute(self, one: str, other: str) -> int:
        return int(APTED(self._nested(one), self._nested(other)).compute_edit_distance())


@cache
def distances(levels: int) -> TreeDistance:
    """Return the distances that all shards of a process share."""
    return TreeDistance(levels)
