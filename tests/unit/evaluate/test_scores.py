import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import tables
from workflow_scripts.core.files.rows import ScoredRow
from workflow_scripts.stages.evaluate.scores import BINS, scored_histograms


def candidate(forward, backward):
    return tables.candidate("a", forward, backward)


def write(path, rows):
    scored = (
        tables.pair(f"{corpus}:{number}") | {"candidates": candidates}
        for number, (corpus, candidates) in enumerate(rows)
    )
    return tables.write_table(path, ScoredRow, scored)


def test_by_hand(tmp_path):
    rows = [
        ("seen", [candidate(0.0, 0.25), candidate(0.55, 12.0)]),
        ("held", [candidate(4.0, None)]),
        ("seen", []),
    ]
    path = write(tmp_path / "0000.parquet", rows)
    found = scored_histograms(path, {"all": None, "seen": {"seen"}, "none": set()})
    everything = found["all"].result()
    assert (everything["candidates"], everything["pruned"]) == (3, 1)
    assert everything["width"] == 0.1
    filled = {
        score: {bin: n for bin, n in enumerate(everything[score]) if n}
        for score in ("forward", "backward", "sum")
    }
    assert filled == {
        "forward": {0: 1, 5: 1, 40: 1},
        "backward": {2: 1, BINS: 1},
        "sum": {2: 1, BINS: 1},
    }
    assert found["seen"].result()["pruned"] == 0
    assert found["seen"].result()["candidates"] == 2
    assert found["none"].result()["candidates"] == 0


@pytest.mark.slow
@given(st.lists(st.floats(0, 20, width=32), max_size=50))
def test_every_candidate_is_in_one_bin(tmp_path_factory, scores):
    path = tmp_path_factory.mktemp("scores") / "0000.parquet"
    write(path, [("c", [candidate(score, None) for score in scores])])
    histogram = scored_histograms(path, {"all": None})["all"].result()
    assert sum(histogram["forward"]) == len(scores) == histogram["pruned"]
    expected, _ = np.histogram(scores, bins=[*range(11), np.inf])
    by_nat = [sum(histogram["forward"][nat * 10 : nat * 10 + 10]) for nat in range(10)]
    assert by_nat == expected[:10].tolist()
