import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden.inputs import arguments
from tests.tables import write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairRow, PairScoreRow
from workflow_scripts.stages.dual_filter.keep import adequacy, failure, filter_pairs, main

SUM = {"method": "sum", "max_sum": 3.5, "trusted": ["trusted"]}
CROSS_ENTROPY = {"method": "cross_entropy", "max_sum": 3.5, "min_score": 0.2, "trusted": []}
nlls = st.floats(0, 50)


@pytest.mark.parametrize(
    ("forward", "backward", "config", "reason"),
    [
        (1.75, 1.75, SUM, None),
        (3.5, 0.0, SUM, None),
        (1.75, 1.7500001, SUM, "sum"),
        (math.inf, 0.1, SUM, "too_long"),
        (math.inf, math.inf, SUM, "too_long"),
        (1.0, 1.0, CROSS_ENTROPY, None),
        (1.6, 1.6, CROSS_ENTROPY, None),
        (1.7, 1.7, CROSS_ENTROPY, "cross_entropy"),
        (0.2, 1.5, CROSS_ENTROPY, "cross_entropy"),  # the mean of 0.85 alone would pass
        (math.inf, math.inf, CROSS_ENTROPY, "too_long"),
    ],
)
def test_bounds(forward, backward, config, reason):
    assert failure(forward, backward, config) == reason


def test_adequacy_by_hand():
    assert adequacy(0.0, 0.0) == 1.0
    assert adequacy(1.0, 3.0) == pytest.approx(math.exp(-(2.0 + 2.0)))


@given(nlls, nlls)
def test_adequacy_is_symmetric_and_best_when_both_agree(one, other):
    assert adequacy(one, other) == adequacy(other, one)
    middle = (one + other) / 2
    assert 0 <= adequacy(one, other) <= adequacy(middle, middle) * (1 + 1e-9) <= 1 + 1e-9


def row(number, corpus="web"):
    return {"id": f"c:{number}", "source": "s", "reference": "r", "corpus": corpus}


def scored(number, forward=1.0, backward=1.0):
    return {"id": f"c:{number}", "forward_nll": forward, "backward_nll": backward}


def test_trusted_pairs_stay_without_scores():
    pairs = [row(1, "trusted"), row(2), row(3), row(4, "trusted")]
    judged = filter_pairs(pairs, [scored(2, 9.0), scored(3)], SUM)
    assert [reason for _, reason in judged] == [None, "sum", None, None]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([scored(1)], "have the end where pair 'c:2' belongs"),
        ([scored(1), scored(3)], "have 'c:3' where pair 'c:2' belongs"),
        ([scored(1), scored(2), scored(3)], "hold 'c:3', which is not among"),
        ([scored(1), scored(2, math.nan)], "an NLL of pair 'c:2' is NaN"),
    ],
)
def test_scores_of_other_pairs_or_without_a_number_are_refused(scores, message):
    with pytest.raises(InputError, match=message):
        list(filter_pairs([row(1), row(2)], scores, SUM))


def test_a_shard_is_filtered_and_counted(tmp_path, write_pairs):
    rows = [row(1), row(2, "trusted"), row(3), row(4)]
    pairs, scores, output = write_pairs(rows), tmp_path / "s.parquet", tmp_path / "o.parquet"
    write_table(scores, PairScoreRow, [scored(1), scored(3, 2.0, 2.0), scored(4, math.inf, 1.0)])
    main(arguments(SUM, pairs=pairs, scores=scores, output=output))
    assert list(read_rows(output, PairRow)) == rows[:2]
    record = verify(output)
    assert (record["rows_in"], record["rows_out"]) == (4, 2)
    assert record["rejected"] == {"sum": 1, "too_long": 1}
    assert record["extra"]["corpora"] == {
        "trusted": {"in": 1, "out": 1},
        "web": {"in": 3, "out": 1, "sum": 1, "too_long": 1},
    }


def test_cross_entropy_needs_its_bound(tmp_path):
    config = {key: value for key, value in CROSS_ENTROPY.items() if key != "min_score"}
    files = {"pairs": "absent", "scores": "absent", "output": tmp_path / "o"}
    with pytest.raises(InputError, match=r"dual_filter\.min_score: needed"):
        main(arguments(config, **files))
