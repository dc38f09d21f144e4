import pytest
from apted import APTED
from apted.helpers import Tree as Reference
from hypothesis import given, settings
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
    max_leaves=12,
)
DEEP = 20


def reference_distance(one: str, other: str) -> int:
    """What the library apted gives for two truncated trees."""
    nested = (
        Reference.from_text(each.replace(" ", "").replace("(", "{").replace(")", "}"))
        for each in (one, other)
    )
    return APTED(*nested).compute_edit_distance()


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(trees, trees)
def test_distance_is_that_of_apted(one, other):
    shapes = truncate(one, DEEP), truncate(other, DEEP)
    assert TreeDistance(DEEP).between(*shapes) == reference_distance(*shapes)


@pytest.mark.slow
def test_distance_is_that_of_apted_on_sentences():
    distance = TreeDistance(3)
    shapes = [distance.shape(item.tree) for item in items(seed=1, first=0, count=120)]
    pairs = list(zip(shapes, shapes[1:] + shapes[:1], strict=True))
    assert len(set(shapes)) > 60
    for pair in pairs:
        assert distance.between(*pair) == reference_distance(*pair)


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
