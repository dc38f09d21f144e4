import pytest

from workflow_scripts.stages.evaluate.syntax import Syntax, measure_trees, tree_summary
from workflow_scripts.stages.syntax.tree_distance import TreeDistance, distances

CONFIG = {"best": 3, "groups": {"seen": ["train"], "held_out": ["held"]}}
CONFIG |= {"bootstrap": 200, "seed": 1}
FLAT = "(ROOT (S (NP (PRP I)) (VP (VBP run))))"
STOP = "(ROOT (S (NP (PRP I)) (VP (VBP run)) (. .)))"  # 1 from FLAT
NOUN = "(ROOT (NP (NN run)))"  # 4 from FLAT, 5 from STOP


def row(corpus, reference, *paraphrases, parsed=True):
    trees = {"parsed": parsed, "reference": reference, "paraphrases": list(paraphrases)}
    return {"corpus": corpus, **trees}


ROWS = [
    row("train", FLAT, FLAT, STOP, NOUN, FLAT),
    row("train", FLAT, STOP),
    row("held", STOP, FLAT, FLAT, FLAT),
    row("held", STOP, None, FLAT, FLAT),
    row("held", None, parsed=False),
    row("elsewhere", NOUN, STOP, NOUN, STOP),
]


def measured(rows=ROWS, levels=3, **changes):
    config = {**CONFIG, **changes}
    return tree_summary(measure_trees(rows, config, levels), config)


def test_means_by_rank_where_lacking_ones_repeat_the_last():
    seen = measured()["seen"]
    assert seen["references"] == 2
    assert [rank["rank"] for rank in seen["ranks"]] == [1, 2, 3]
    assert [rank["tree_edit_distance"] for rank in seen["ranks"]] == [0.5, 1.0, 2.5]
    assert seen["difference"]["tree_edit_distance"] == 2.0
    assert [(pair["first"], pair["second"]) for pair in seen["between"]] == [(1, 2), (1, 3), (2, 3)]
    assert [pair["tree_edit_distance"] for pair in seen["between"]] == [0.5, 2.0, 2.5]


def test_references_with_a_sentence_without_tree_are_left_out_and_counted():
    groups = measured()
    counts = {name: (each["references"], each["without_trees"]) for name, each in groups.items()}
    assert counts == {"all": (4, 1), "seen": (2, 0), "held_out": (1, 1)}
    assert groups["all"]["ranks"][0]["tree_edit_distance"] == (0 + 1 + 1 + 5) / 4


def test_levels():
    ranks = measured(levels=1)["seen"]["ranks"]
    assert [rank["tree_edit_distance"] for rank in ranks] == [0, 0, 0.5]


def test_nothing_parsed_has_no_figures():
    assert measured(rows=ROWS[3:5])["held_out"] is None
    assert measured(rows=[]) == {"all": None, "seen": None, "held_out": None}


def test_intervals_hold_their_means_and_narrow_with_more_references():
    few, many = measured(rows=ROWS[:2] * 10)["all"], measured(rows=ROWS[:2] * 1000)["all"]
    widths = []
    for group in (few, many):
        for rank in group["ranks"]:
            interval = rank["interval"]
            assert interval["low"] <= rank["tree_edit_distance"] <= interval["high"]
        difference = group["difference"]
        assert difference["low"] <= difference["tree_edit_distance"] <= difference["high"]
        widths.append(difference["high"] - difference["low"])
    # The interval's width goes with the root of the number: a tenth.
    assert widths[1] == pytest.approx(widths[0] / 10, rel=0.3)


def test_parts_add_up_to_the_whole():
    whole = measure_trees(ROWS, CONFIG, 3)
    parts = [measure_trees(ROWS[:3], CONFIG, 3), measure_trees(ROWS[3:], CONFIG, 3, start=3)]
    for name, group in parts[1].items():
        parts[0][name].merge(group)
    assert tree_summary(parts[0], CONFIG) == tree_summary(whole, CONFIG)


def test_shards_of_one_process_share_what_was_computed():
    distances.cache_clear()
    for start in (0, len(ROWS)):
        measure_trees(ROWS, CONFIG, 3, start)
        computed = distances(3)._distance.cache_info().misses
        assert computed == len({(FLAT, STOP), (FLAT, NOUN), (STOP, NOUN)})


def test_memory_is_bounded_by_the_blocks():
    syntax, distance = Syntax(1), TreeDistance(3)
    for number in range(300):
        syntax.add(distance, row("train", FLAT, STOP), number % 7)
    assert len(syntax.blocks) == 7
    assert syntax.result(10, 1)["references"] == 300
