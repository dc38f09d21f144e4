import json

import pytest

from tests.tables import pair, paraphrase, selected, write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.rows import SCHEMA_NAMES, ParaphrasesRow, TreesRow
from workflow_scripts.stages.evaluate.known_trees import compare, known_tree, main
from workflow_scripts.stages.syntax.trees import parse, words
from workflow_scripts.testbed.generate import items

REFERENCE, PASSIVE = "The doctor bought the car.", "The car was bought by the doctor."
OTHER = "A cat is a cat is a cat."


@pytest.mark.slow
def test_known_tree_is_the_one_that_the_testbed_emits():
    for item in items(seed=1, first=0, count=4):
        tree = known_tree(item.reference)
        assert tree is not None
        assert words(parse(tree)) == words(parse(item.tree))
    assert known_tree(OTHER) is None


def paraphrased(number, reference, *texts):
    listed = [paraphrase(rank, text) for rank, text in enumerate(texts, 1)]
    return selected(pair(f"t:{number}", reference=reference), listed)


def parsed(number, *trees):
    reference, *others = trees or [None]
    return {
        "id": f"t:{number}",
        "corpus": "t",
        "parsed": bool(trees),
        "reference": reference,
        "paraphrases": others,
    }


ROWS = [
    paraphrased(1, REFERENCE, PASSIVE, REFERENCE),
    paraphrased(2, REFERENCE, OTHER),
    paraphrased(3, REFERENCE),
]
GOLD = {text: f"(ROOT {known_tree(text)})" for text in (REFERENCE, PASSIVE)}
TREES = [
    parsed(1, *(GOLD[text] for text in (REFERENCE, PASSIVE, REFERENCE))),
    parsed(2, GOLD[REFERENCE], "(S (X a))"),
    parsed(3),
]


def test_a_perfect_parser_has_the_distances_of_the_known_trees():
    found = compare(zip(ROWS[:1], TREES[:1], strict=True), best=2, levels=3, samples=10, seed=1)
    assert (found["references"], found["without_known_trees"], found["f1"]) == (1, 0, 100.0)
    assert found["known"] == found["parsed"]
    assert [rank["tree_edit_distance"] for rank in found["known"]["ranks"]] == [1, 0]


def test_an_error_of_the_parser_is_seen():
    wrong = parsed(1, GOLD[REFERENCE], GOLD[REFERENCE], GOLD[REFERENCE])
    found = compare([(ROWS[0], wrong)], best=2, levels=3, samples=10, seed=1)
    assert found["f1"] < 100
    assert found["parsed"]["ranks"][0]["tree_edit_distance"] == 0
    assert found["known"]["ranks"][0]["tree_edit_distance"] == 1


def arguments(folder, trees=TREES):
    tables = {
        kind: write_table(folder / SCHEMA_NAMES[kind] / "0000.parquet", kind, rows)
        for kind, rows in ((ParaphrasesRow, ROWS), (TreesRow, trees))
    }
    found, known = (str(path.parent) for path in tables.values())
    words = ["--folder", found, "--trees", known, "--shards", "1", "--best", "2"]
    return [*words, "--bootstrap", "10"]


def test_command(tmp_path, capsys):
    main(arguments(tmp_path))
    found = json.loads(capsys.readouterr().out)
    assert (found["references"], found["without_known_trees"]) == (1, 1)


@pytest.mark.parametrize(
    ("option", "value"), [("--best", "0"), ("--best", "-1"), ("--levels", "0")]
)
def test_numbers_below_1_are_refused(tmp_path, capsys, option, value):
    words = arguments(tmp_path)
    words[words.index("--best") : words.index("--bootstrap")] = ["--best", "2", "--levels", "3"]
    words[words.index(option) + 1] = value
    with pytest.raises(SystemExit):
        main(words)
    assert f"{option}: {value} is below 1" in capsys.readouterr().err


@pytest.mark.parametrize("trees", [TREES[:2], [*TREES, parsed(4)], TREES[::-1]])
def test_folders_of_different_runs(tmp_path, trees):
    with pytest.raises(InputError, match="give folders of one run"):
        main(arguments(tmp_path, trees))
