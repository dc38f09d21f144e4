import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.syntax.treebank import bracketed
from workflow_scripts.stages.syntax.trees import Tree, entropy, parse, truncate, words

SENTENCE = "(S (NP (PRP I)) (VP (VBP run) (ADVP (RB very) (RB fast))) (. .))"

labels = st.sampled_from(["S", "NP", "VP", "-LRB-", "."])
trees = st.recursive(
    st.builds(lambda label, word: Tree(label, word=word), labels, st.sampled_from(["a", "'", "."])),
    lambda below: st.builds(
        lambda label, children: Tree(label, tuple(children)),
        labels,
        st.lists(below, min_size=1, max_size=4),
    ),
    max_leaves=12,
)


def test_parse():
    tree = parse("(S (NP (PRP I)) (VP (VBP run)))")
    assert tree.label == "S"
    assert [child.label for child in tree.children] == ["NP", "VP"]
    assert tree.children[0].children == (Tree("PRP", word="I"),)
    assert words(tree) == ["I", "run"]


def test_a_root_above_one_node_is_taken_off():
    for root in ("ROOT", "TOP", ""):
        assert parse(f"({root}\n {SENTENCE})") == parse(SENTENCE)
    assert parse("(ROOT (NP (NN a)) (. .))").label == "ROOT"


@given(trees)
def test_what_is_written_is_read_back(tree):
    assert parse(bracketed(tree)) == tree


@pytest.mark.parametrize(
    "text",
    ["", "S", "(S", "(S)", "()", "(S (NP a)", "(S (NP a)))", "(S (NP a)) (S (NP b))", "(S a b)"],
)
def test_what_is_no_tree_is_refused(text):
    with pytest.raises(InputError, match="not one tree"):
        parse(text)


def test_depth_has_no_limit():
    depth = 5000
    tree = parse("(X " * depth + "(N a)" + ")" * depth)
    assert words(tree) == ["a"]
    assert truncate(tree, 2) == "(X (X))"


def test_truncated_trees_have_no_words():
    tree = parse(SENTENCE)
    assert truncate(tree, 1) == "(S)"
    assert truncate(tree, 2) == "(S (NP) (VP) (.))"
    assert truncate(tree, 3) == "(S (NP (PRP)) (VP (VBP) (ADVP)) (.))"
    whole = "(S (NP (PRP)) (VP (VBP) (ADVP (RB) (RB))) (.))"
    assert truncate(tree, 4) == truncate(tree, 9) == whole


def test_entropy():
    assert entropy([]) == 0
    assert entropy(["a"] * 5) == 0
    assert entropy(["a", "b", "b", "a"]) == pytest.approx(math.log(2))
    assert entropy("abcdefgh") == pytest.approx(math.log(8))
    assert entropy(["a", "a", "a", "b"]) == pytest.approx(0.5623351446)
