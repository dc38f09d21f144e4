"""The bound on a judge's probability."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden.inputs import arguments
from tests.tables import candidate, pair, write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.rows import JudgedRow, ScoredRow
from workflow_scripts.stages.select import threshold
from workflow_scripts.stages.select.probability import (
    Judged,
    ProbabilityBound,
    precise,
    probability_bound,
)

ROWS = [
    Judged("two words", [1.0, 2.0, None], [0.5, 0.75, None]),
    Judged("and here are five words", [1.0, 5.0], [0.25, 1.0]),
]


def bound(keep, max_sum=3.5, rows=ROWS):
    return probability_bound(lambda: rows, keep, max_sum)


def test_a_probability_is_the_bound_itself():
    found = bound({"probability": 0.5})
    assert found == {"ends": [], "least": [0.5], "judged": 4, "kept": 2}
    assert bound({"probability": 0.5}, max_sum=9.0)["kept"] == 3


numbers = st.lists(st.floats(0, 1, width=32), min_size=1, max_size=30)


@pytest.mark.slow
@given(numbers, st.integers(1, 100))
def test_a_quantile_keeps_the_least_that_is_enough(probabilities, percent):
    rows = [Judged("a", [1.0] * len(probabilities), probabilities)]
    (least,) = bound({"probability_quantile": percent / 100}, rows=rows)["least"]
    kept = sum(each >= least for each in probabilities)
    assert least in probabilities
    assert 100 * kept >= percent * len(probabilities)
    above = sum(each > least for each in probabilities)
    assert 100 * above < percent * len(probabilities)


def test_a_quantile_of_nothing_is_refused():
    with pytest.raises(InputError, match="no candidate was judged"):
        bound({"probability_quantile": 0.5}, rows=[Judged("a", [None], [None])])


def test_bounds_by_the_length_of_the_reference():
    found = ProbabilityBound([2, 4], [0.1, 0.2, 0.3])
    lengths = [found.of(" ".join(["w"] * words)) for words in (0, 1, 2, 3, 4, 5, 50)]
    assert lengths == [0.1, 0.1, 0.1, 0.2, 0.2, 0.3, 0.3]


def test_the_command_writes_both_bounds(tmp_path):
    scored, judged = tmp_path / "scored" / "0000.parquet", tmp_path / "judged" / "0000.parquet"
    candidates = [candidate(str(number), 0.5, 0.5 + number) for number in range(3)]
    write_table(scored, ScoredRow, [{**pair("c:1", "z", "a b"), "candidates": candidates}])
    write_table(judged, JudgedRow, [{"id": "c:1", "probabilities": [0.5, None, 0.75]}])
    output = tmp_path / "threshold.json"
    config = {"keep": {"max_sum": 2.5, "probability_quantile": 0.5}}
    options = {"folder": scored.parent, "shards": 1, "judged": judged.parent, "output": output}
    threshold.main(arguments(config, **options))
    assert json.loads(output.read_text()) == {
        "keep": config["keep"],
        **{"max_sum": 2.5, "candidates": 3, "pruned": 0, "kept": 2},
        "probability": {"ends": [], "least": [0.75], "judged": 2, "kept": 0},
    }


def test_with_a_judge_the_sum_may_have_no_bound():
    sums = [threshold.Scores(np.array([1.0, 9.0], np.float32), np.array([4.0], np.float32))]
    found = threshold.threshold(lambda: sums, {"probability": 0.5})
    assert (found["max_sum"], found["kept"], found["pruned"]) == (None, 2, 1)


def labelled(*bands):
    """The content of judge.json with these bins, (from, pairs, share of good ones), by band."""
    reliability = [
        {"bins": [{"from": start, "pairs": pairs, "good": good} for start, pairs, good in bins]}
        for bins in bands
    ]
    return {"bands": [8, 15], "about": {"reliability": reliability}}


SHORT = [(0.0, 40, 0.1), (0.4, 20, 0.6), (0.8, 40, 0.9)]
LONG = [(0.0, 60, 0.0), (0.4, 30, 0.3), (0.8, 10, 0.5)]


def test_a_precision_is_kept_for_each_length_that_has_labels():
    judge = labelled(SHORT, LONG, [])
    found = precise(judge, 0.8)
    # Of short ones 60 labels from 0.4 on are good by 48 of 60; the long ones have few.
    assert found.ends == [7, 14]
    assert found.least == [0.4, 0.8, 0.8]
    assert precise(judge, 0.3).least == [0.0, 0.4, 0.0]
    assert precise(judge, 0.01).least == [0.0, 0.0, 0.0]


def test_a_precision_that_no_bound_gives_is_refused():
    with pytest.raises(InputError, match=r"no bound of the judge has 0.95 .* \(at most 0.9\)"):
        precise(labelled(SHORT, LONG, []), 0.95)
