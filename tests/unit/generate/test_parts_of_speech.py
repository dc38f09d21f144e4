"""Coarse parts of speech of the Penn Treebank's tags, of universal ones, and of PPDB's."""

import pytest

from workflow_scripts.stages.generate.parts_of_speech import coarse


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["VB", "VBD", "[VBN]", "MD", "VERB", "AUX"], "VERB"),
        (["NN", "[NNS]", "NNP", "PROPN", "NOUN"], "NOUN"),
        (["JJ", "JJR", "ADJ"], "ADJ"),
        (["RB", "RBS", "ADV"], "ADV"),
        (["IN", "TO", "[RP]", "ADP"], "ADP"),
        (["[X]", "X"], "X"),
    ],
)
def test_tags_of_all_sets_become_one(tags, expected):
    assert {coarse(tag) for tag in tags} == {expected}
