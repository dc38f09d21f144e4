import re

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.syntax.treebank import bracketed, conllu, read_trees, sentence, written
from workflow_scripts.stages.syntax.trees import parse, words
from workflow_scripts.testbed.generate import items


def tagged(text):
    """A flat tree over blank-separated words."""
    return sentence(parse("(S " + " ".join(f"(X {word})" for word in text.split()) + ")"))


def test_trees_of_many_lines_functions_and_traces(tmp_path):
    path = tmp_path / "a.mrg"
    path.write_text(
        "(ROOT\n  (S (NP-SBJ=1 (PRP He))\n (VP (VBD slept) (SBAR (-NONE- *)))))\n\n"
        "( (S (NP|X (NN-X a)) (-LRB- -LRB-)) )\n(S (-NONE- *))\n",
        encoding="utf-8",
    )
    assert [bracketed(tree) for tree in read_trees([path])] == [
        "(S (NP (PRP He)) (VP (VBD slept)))",
        "(S (NP (NN a)) (-LRB- -LRB-))",
    ]


@pytest.mark.parametrize("text", ["(S (NP", "x (S (NP a))", "(S)"])
def test_bad_trees_are_named(tmp_path, text):
    path = tmp_path / "a.mrg"
    path.write_text("(S (X a))\n" + text, encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.mrg, tree 2: not one tree"):
        read_trees([path])


def test_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"none\.mrg: can't be read"):
        read_trees([tmp_path / "none.mrg"])


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("He ca n't , and they 'll go .", "He can't, and they'll go."),
        ("the boys ' dog 's bone", "the boys' dog's bone"),
        ("He said `` no '' : go !", 'He said "no": go!'),
        ("Two -LRB- or three -RRB- dogs ?", "Two (or three) dogs?"),
        ("It costs $ 5 , i.e. 10 % .", "It costs $5, i.e. 10%."),
    ],
)
def test_written(tokens, text):
    shown, labels = written(tagged(tokens))
    assert shown == text
    assert len(labels) == len(text)
    # The digits cut the text into the tokens.
    cut, token = [], ""
    for letter, digit in zip(text, labels, strict=True):
        token += letter
        if digit != "0":
            cut.append(token.strip())
            token = ""
    assert cut == [word for word, _ in tagged(tokens).tags]
    assert labels.count("2") == 1
    assert labels[-1] == "2"


def test_testbed_sentences_are_written_as_they_are():
    for item in items(seed=1, first=0, count=300):
        assert written(sentence(parse(item.tree)))[0] == item.reference


def test_conllu():
    lines = conllu(sentence(parse("(S (NP (PRP I)) (-RRB- -RRB-))"))).splitlines()
    assert lines[0].split("\t") == ["1", "I", "_", "PRP", "_", "_", "0", "root", "_", "_"]
    assert lines[1].split("\t") == ["2", ")", "_", "-RRB-", "_", "_", "1", "dep", "_", "_"]


@pytest.fixture(params=["testbed", "real"])
def treebank(request, tmp_path):
    """Files of more than 500 trees: of the testbed, with functions and a trace, or of GUM."""
    if request.param == "real":
        return sorted((request.getfixturevalue("data_dir") / "gum_const").glob("GUM_bio_*.ptb"))
    paths = [tmp_path / "first.mrg", tmp_path / "second.mrg"]
    for number, path in enumerate(paths):
        trees = (item.tree for item in items(seed=1, first=300 * number, count=300))
        marked = (tree.replace("(NP ", "(NP-SBJ=1 (-NONE- *T*-1) ") for tree in trees)
        path.write_text("".join(f"(ROOT\n  {tree})\n" for tree in marked), encoding="utf-8")
    return paths


@pytest.mark.slow
def test_every_tree_of_a_treebank_is_read_and_written(treebank):
    trees = read_trees(treebank)
    assert len(trees) > 500
    assert not re.findall(r"\(\w+-\S+", " ".join(map(bracketed, trees)))
    for tree in trees:
        text, digits = written(sentence(tree))
        assert len(text) == len(digits)
        assert len(words(tree)) == len(digits) - digits.count("0")
