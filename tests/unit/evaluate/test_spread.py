import copy
import json

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.evaluate.spread import main, read_measures, spread

RUN = {
    "config": {"system": "s", "best": 1, "groups": {"seen": ["x"]}, "seed": 1},
    "groups": {
        "all": {
            "references": 5,
            "ranks": [
                {
                    "rank": 1,
                    "one_minus_bleu": 40.0,
                    "interval": {"low": 39.0, "high": 41.0},
                    "words": {"intersection_over_union": 50.0, "length_ratio": None},
                }
            ],
            "by_length": [{"from": 41, "to": None, "ranks": [{"rank": 1, "one_minus_bleu": 50.0}]}],
            "exact_lengths": [{"length": 5, "ranks": [{"rank": 1, "modified_bleu": 20.0}]}],
            "difference": None,
            "between": [{"first": 1, "second": 2, "one_minus_bleu": 30.0}],
            "testbed": {"distinct_correct": 2.0, "variations": {"synonym": 3}},
            "syntax": {
                "references": 5,
                "ranks": [{"rank": 1, "tree_edit_distance": 3.0, "interval": {"low": 2.0}}],
            },
        }
    },
}


def changed(**values):
    run = copy.deepcopy(RUN)
    run["config"]["seed"] = 2
    run["groups"]["all"]["ranks"][0].update(values)
    return run


def test_mean_and_spread():
    result = spread([RUN, changed(one_minus_bleu=43.0), changed(one_minus_bleu=37.0)])
    group = result["groups"]["all"]
    assert (result["runs"], result["system"], result["best"]) == (3, "s", 1)
    assert group["ranks"][0]["one_minus_bleu"] == {"mean": 40.0, "spread": 6.0}
    assert group["ranks"][0]["rank"] == 1
    assert group["ranks"][0]["words"]["length_ratio"] is None
    longest = {"rank": 1, "one_minus_bleu": {"mean": 50.0, "spread": 0.0}}
    assert group["by_length"] == [{"from": 41, "to": None, "ranks": [longest]}]
    exact = {"rank": 1, "modified_bleu": {"mean": 20.0, "spread": 0.0}}
    assert group["exact_lengths"] == [{"length": 5, "ranks": [exact]}]
    assert group["difference"] is None
    between = {"first": 1, "second": 2, "one_minus_bleu": {"mean": 30.0, "spread": 0.0}}
    assert group["between"] == [between]
    assert group["testbed"] == {"distinct_correct": {"mean": 2.0, "spread": 0.0}}
    assert "interval" not in group["ranks"][0]
    assert group["syntax"]["ranks"] == [
        {"rank": 1, "tree_edit_distance": {"mean": 3.0, "spread": 0.0}}
    ]


def test_a_measure_that_a_run_lacks_has_neither():
    """A rank without pairs has no overlaps."""
    without = changed()
    del without["groups"]["all"]["ranks"][0]["words"]
    for runs in ([RUN, without], [without, RUN]):
        rank = spread(runs)["groups"]["all"]["ranks"][0]
        assert rank["words"] == {"intersection_over_union": None, "length_ratio": None}
        assert rank["one_minus_bleu"] == {"mean": 40.0, "spread": 0.0}


def test_a_list_that_a_run_lacks_has_neither():
    """A run without a parser has no trees, and one of an earlier version no exact lengths."""
    without = changed()
    without["groups"]["all"]["syntax"] = None
    del without["groups"]["all"]["exact_lengths"]
    for runs in ([RUN, without], [without, RUN]):
        group = spread(runs)["groups"]["all"]
        nothing = [{"rank": 1, "tree_edit_distance": None}]
        assert group["syntax"] == {"references": None, "ranks": nothing}
        exact = [{"length": 5, "ranks": [{"rank": 1, "modified_bleu": None}]}]
        assert group["exact_lengths"] == exact


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ([RUN], "at least two"),
        ([RUN, {**RUN, "config": {**RUN["config"], "system": "t"}}], "differ: .*'system': 't'"),
        ([RUN, {**RUN, "config": {**RUN["config"], "best": 2}}], "differ: .*'best': 2"),
        ([RUN, {**RUN, "config": {**RUN["config"], "groups": {}}}], "differ: .*'groups': {}"),
    ],
)
def test_runs_that_do_not_belong_together(runs, message):
    with pytest.raises(InputError, match=message):
        spread(runs)


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"config": {}}',
        '{"config": {}, "groups": {}}',
        # As in variants.json.
        json.dumps({**RUN, "groups": {"all": {"s01": {"outputs": 5}}}}),
    ],
)
def test_not_measures(tmp_path, content):
    path = tmp_path / "measures.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"measures\.json"):
        read_measures(path)
    with pytest.raises(InputError, match="can't be read"):
        read_measures(tmp_path / "none.json")


def test_command(tmp_path):
    paths = []
    for name, run in (("a", RUN), ("b", changed(one_minus_bleu=50.0))):
        paths.append(tmp_path / name / "measures.json")
        paths[-1].parent.mkdir()
        paths[-1].write_text(json.dumps(run))
    main(["--measures", *map(str, paths), "--output", str(tmp_path / "spread.json")])
    result = json.loads((tmp_path / "spread.json").read_text())
    assert result["groups"]["all"]["ranks"][0]["one_minus_bleu"] == {"mean": 45.0, "spread": 10.0}
