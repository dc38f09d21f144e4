import json

import pytest

from tests.stanza_package import FOLDER
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.syntax.check import check, main
from workflow_scripts.stages.syntax.treebank import sentence
from workflow_scripts.stages.syntax.trees import parse
from workflow_scripts.testbed.generate import items


class Fixed:
    """Stands in for a parser."""

    def __init__(self, *trees):
        self.trees = list(trees)

    def parse(self, texts):
        return [self.trees.pop(0) for _ in texts]


def test_scores():
    gold = "(S (NP (DT the) (NN dog)) (VP (VBD slept)))"
    flat = "(ROOT (S (NP (DT the) (NN dog)) (VBD slept)))"
    scores = check([sentence(parse(gold))] * 4, Fixed(gold, flat, None, gold), levels=2)
    assert scores == {"sentences": 4, "f1": 80.0, "words": 75.0, "exact": 50.0, "top": 50.0}


@pytest.mark.slow
def test_tests_parser_knows_the_testbed(tmp_path, capsys):
    path = tmp_path / "gold.mrg"
    sentences = items(seed=1, first=400_000, count=200)
    path.write_text("\n".join(item.tree for item in sentences), encoding="utf-8")
    main(["--trees", str(path), "--folder", str(FOLDER), "--device", "cpu"])
    scores = json.loads(capsys.readouterr().out)
    assert scores["words"] > 98
    assert scores["f1"] > 88


def test_no_trees(tmp_path):
    (tmp_path / "gold.mrg").write_text("\n")
    with pytest.raises(InputError, match="no trees to compare"):
        main(["--trees", str(tmp_path / "gold.mrg"), "--folder", str(FOLDER)])
