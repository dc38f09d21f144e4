"""The dual filter of the whole run: which pairs stay, and why."""

import pyarrow.parquet as pq
import pytest

from tests.e2e import micro

pytestmark = pytest.mark.e2e

WEB = {f"web:{line}" for line in range(1, micro.SIZES["web"] + 1)}
NOISE = {f"web:{line}" for line in range(1, micro.SIZES["web"] + 1, 3)}


def rows(folder):
    return [
        row
        for path in sorted(folder.glob("[0-9]*.parquet"))
        for row in pq.read_table(path).to_pylist()
    ]


def test_noise_is_filtered_and_clean_pairs_and_trusted_and_measured_corpora_stay(whole):
    kept, clean = (rows(whole.unit(unit)) for unit in ("dual_filter.kept", "clean"))
    assert {row["id"] for row in kept if row["corpus"] == "web"} == WEB - NOISE
    assert kept == [row for row in clean if row["id"] not in NOISE]
    rejected = whole.manifest("dual_filter.kept")["rejected"]
    assert rejected == {"sum": len(NOISE)}


def test_every_other_pair_has_its_scores_and_they_decide(whole):
    scores = {row["id"]: row for row in rows(whole.unit("dual_filter.scores"))}
    others = {
        row["id"] for row in rows(whole.unit("clean")) if row["corpus"] in ("web", "held_out")
    }
    assert scores.keys() == others
    kept = {row["id"] for row in rows(whole.unit("dual_filter.kept"))}
    for identity, row in scores.items():
        assert (row["forward_nll"] + row["backward_nll"] <= micro.MAX_SUM) == (identity in kept)
