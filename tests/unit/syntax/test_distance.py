from itertools import combinations, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from workflow_scripts.stages.syntax.tree_distance import TreeDistance
from workflow_scripts.stages.syntax.trees import Tree, parse, truncate
from workflow_scripts.testbed.generate import items

labels = st.sampled_from("ABC")
trees = st.recursive(
    st.builds(Tree, labels),
    lambda below: st.builds(
        lambda label, children: Tree(label, tuple(children)), labels, st.lists(below, max_size=4)
    ),
    max_leaves=5,
)
DEEP = 20
# Of the trees that the brute force takes.
MOST_NODES = 6


def nodes(tree: Tree) -> list[tuple[str, int, int]]:
    """Return each node's label and first and last place in postorder of its subtree."""
    result: list[tuple[str, int, int]] = []
    for child in tree.children:
        result += [(label, a + len(result), b + len(result)) for label, a, b in nodes(child)]
    return [*result, (tree.label, 0, len(result))]


def above(one: tuple[str, int, int], other: tuple[str, int, int]) -> bool:
    return one[1] <= other[1] and other[2] < one[2]


def least_edits(one: Tree, other: Tree) -> int:
    """Return the cost of the best of all mappings that keep order and ancestors."""
    first, second = nodes(one), nodes(other)
    costs = []
    for size in range(min(len(first), len(second)) + 1):
        for chosen, others in product(combinations(first, size), combinations(second, size)):
            pairs = list(zip(chosen, others, strict=True))
            if all(above(a, b) == above(x, y) for (b, y), (a, x) in combinations(pairs, 2)):
                renamed = sum(a[0] != b[0] for a, b in pairs)
                costs.append(len(first) + len(second) - 2 * size + renamed)
    return min(costs)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(trees, trees)
def test_distance_is_that_of_the_best_of_all_mappings(one, other):
    assume(max(len(nodes(one)), len(nodes(other))) <= MOST_NODES)
    shapes = truncate(one, DEEP), truncate(other, DEEP)
    assert TreeDistance(DEEP).between(*shapes) == least_edits(one, other)


@pytest.mark.slow
def test_distance_of_sentences_is_that_of_the_best_of_all_mappings():
    distance = TreeDistance(2)
    shapes = {distance.shape(item.tree) for item in items(seed=1, first=0, count=300)}
    small = sorted(shape for shape in shapes if shape.count("(") <= MOST_NODES)
    assert len(small) > 10
    for one, other in combinations(small[:40], 2):
        assert distance.between(one, other) == least_edits(read(one), read(other))


def read(shape: str) -> Tree:
    """Return a truncated tree as a tree; its leaves have no word."""
    open_nodes: list[tuple[str, list[Tree]]] = [("", [])]
    for token in shape.replace(")", " )").split():
        if token == ")":
            label, children = open_nodes.pop()
            open_nodes[-1][1].append(Tree(label, tuple(children)))
        else:
            open_nodes.append((token[1:], []))
    return open_nodes[0][1][0]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("(S (NP) (VP))", "(S (NP) (VP))", 0),
        ("(S (NP) (VP))", "(S (NP) (VP) (.))", 1),
        ("(S (NP) (VP))", "(S (VP) (NP))", 2),
        ("(S (NP (DT) (NN)) (VP))", "(S (DT) (NN) (VP))", 1),
        ("(S)", "(X (Y (Z)))", 3),
    ],
)
def test_known_distances(one, other, expected):
    assert TreeDistance(3).between(one, other) == expected
    assert TreeDistance(3).between(other, one) == expected


@pytest.mark.slow
@given(trees, trees, trees)
def test_it_is_a_metric(one, two, three):
    distance = TreeDistance(DEEP)
    a, b, c = (truncate(tree, DEEP) for tree in (one, two, three))
    assert distance.between(a, b) == distance.between(b, a)
    assert (distance.between(a, b) == 0) == (a == b)
    assert distance.between(a, c) <= distance.between(a, b) + distance.between(b, c)


def test_only_the_top_levels_count():
    one = "(ROOT (S (NP (NN a)) (VP (VB b) (NP (DT the) (NN c)))))"
    other = "(ROOT (S (NP (NN x)) (VP (VB y) (NP (NP (NN z)) (PP (IN of) (NP (NN w)))))))"
    for levels, same in ((3, True), (9, False)):
        distance = TreeDistance(levels)
        assert (distance.between(distance.shape(one), distance.shape(other)) == 0) is same


def test_a_pair_is_computed_once():
    distance = TreeDistance(3)
    one, other = "(S (NP))", "(S (VP) (NP))"
    assert distance.between(one, other) == distance.between(other, one) == 1
    assert distance._distance.cache_info().misses == 1
    assert distance._distance.cache_info().hits == 1


def test_shape_of_a_tree_and_of_its_brackets():
    text = "(ROOT (S (NP (NN a)) (. .)))"
    assert TreeDistance(2).shape(text) == TreeDistance(2).shape(parse(text)) == "(S (NP) (.))"
