import pytest

from workflow_scripts.stages.syntax.brackets import bracketing, brackets
from workflow_scripts.stages.syntax.trees import parse

GOLD = parse("(S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (DT a) (NN cat))))")


def test_constituents_by_characters_and_chains_of_one_child():
    assert brackets(GOLD) == {("S", 0, 14): 1, ("NP", 0, 6): 1, ("VP", 6, 14): 1, ("NP", 10, 14): 1}
    assert brackets(parse("(NP (NP (NN a)))")) == {("NP", 0, 1): 2}


def test_the_same_tree_is_perfect():
    counts = bracketing([(GOLD, GOLD)])
    assert (counts.f1, counts.exact, counts.same_words, counts.trees) == (1.0, 1, 1, 1)
    word = parse("(UH yes)")  # nothing to find
    assert bracketing([(word, word)]).f1 == 1.0


def test_f1():
    flat = parse("(S (NP (DT the) (NN dog)) (VBZ sees) (NP (DT a) (NN cat)))")
    counts = bracketing([(GOLD, flat)])
    assert (counts.matched, counts.gold, counts.parsed) == (3, 4, 3)
    assert counts.f1 == pytest.approx(6 / 7)
    assert counts.exact == 0


def test_a_missing_tree_misses_everything():
    counts = bracketing([(GOLD, None), (GOLD, GOLD)])
    assert counts.f1 == pytest.approx(8 / 12)
    assert (counts.same_words, counts.trees) == (1, 2)


def test_other_tokens_move_no_bracket():
    split = parse("(S (NP (DT the) (NN do) (NN g)) (VP (VBZ sees) (NP (DT a) (NN cat))))")
    counts = bracketing([(GOLD, split)])
    assert (counts.f1, counts.same_words) == (1.0, 0)
