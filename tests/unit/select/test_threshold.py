import json
import math

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.tables import candidate, pair, write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.rows import ReferenceScoreRow, ScoredRow
from workflow_scripts.stages.select.threshold import Scores, main, threshold

floats = st.floats(0, 1000, width=32)


def passes(*parts):
    """Give parts of (sums, forward NLLs of the pruned) as a repeatable stream."""
    scores = [
        Scores(np.array(sums, np.float32), np.array(pruned, np.float32)) for sums, pruned in parts
    ]
    return lambda: iter(scores)


def result(keep, max_sum, candidates, pruned, kept, **more):
    """What is found, as it is written."""
    counts = {"candidates": candidates, "pruned": pruned, "kept": kept}
    return {"keep": keep, "max_sum": max_sum, **counts, **more}


@pytest.mark.parametrize("keep", ["quantile", "reference_quantile"])
@pytest.mark.parametrize("quantile", [0.07, 0.125, 0.25, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("size", [1, 2, 7, 1000, 10_007])
def test_quantile_equals_numpy(keep, quantile, size):
    rng = np.random.default_rng(size)
    values = rng.gamma(3.0, 1.3, size).astype(np.float32).round(3)
    parts = np.array_split(values, 3)
    of_references = keep == "reference_quantile"
    candidates = np.float32([1.0, 2.0, 3.0]) if of_references else values
    scored = passes((candidates, [])) if of_references else passes(*((part, []) for part in parts))
    found = threshold(scored, {keep: quantile}, sums(*parts) if of_references else None)
    assert found["max_sum"] == np.quantile(values, quantile, method="inverted_cdf")
    assert found["kept"] == np.count_nonzero(candidates <= np.float32(found["max_sum"]))
    assert of_references or found["kept"] >= quantile * size


def test_quantile_is_taken_as_the_decimal_it_is_written_as():
    assert math.ceil(0.07 * 100) == 8
    assert threshold(passes((range(100), [])), {"quantile": 0.07})["max_sum"] == 6.0


def test_pruned_candidates_count_as_above():
    parts = passes(([1.0, 2.0, 3.0], [3.6]), ([2.5], [4.0, 9.0, 3.7, 5.0]))
    keep = {"quantile": 0.25}
    assert threshold(parts, keep) == result(keep, 2.5, candidates=9, pruned=5, kept=3)


@pytest.mark.parametrize(
    ("keep", "known"),
    [
        ({"quantile": 0.9}, [1.0, 2.0]),  # the rank itself is among the pruned
        ({"quantile": 0.5}, [1.0, 6.0]),  # a scored one, but a pruned one may be below it
        ({"max_sum": 4.5}, [1.0, 2.0]),
        ({"reference_quantile": 1.0}, [1.0]),  # of a reference at 4.5
    ],
)
def test_a_threshold_among_pruned_candidates_is_refused(keep, known):
    with pytest.raises(InputError, match=r"raise score\.prune_above"):
        threshold(passes((known, [4.0, 4.2])), keep, sums([4.5]))


def test_fixed_threshold_includes_its_own_value():
    parts, keep = passes(([1.0, 3.5, 3.75], [4.0])), {"max_sum": 3.5}
    assert threshold(parts, keep) == result(keep, 3.5, candidates=4, pruned=1, kept=2)


def test_no_bound_where_the_backward_model_cannot_read_what_is_to_be_kept():
    parts = passes(([1.0, math.inf, 2.0], []), ([math.inf], []))
    keep = {"quantile": 1.0}
    assert threshold(parts, keep) == result(keep, None, candidates=4, pruned=0, kept=4)
    assert threshold(parts, {"quantile": 0.5})["max_sum"] == 2.0


@pytest.mark.parametrize("keep", [{"quantile": 0.5}, {"max_sum": 2.0}])
@pytest.mark.parametrize("part", [([1.0, math.nan], []), ([1.0], [3.0, math.nan])])
def test_nan_is_refused(keep, part):
    with pytest.raises(InputError, match="NLL is NaN"):
        threshold(passes(([1.0], []), part), keep)


def test_no_candidates_at_all():
    with pytest.raises(InputError, match="no candidate"):
        threshold(passes(([], [])), {"quantile": 0.5})


def write_scored(path, rows):
    """Write lists of candidates by their sums; those without one are pruned."""
    scored = [
        [
            candidate("a", 9.0, None) if total is None else candidate("a", 0.0, total)
            for total in row
        ]
        for row in rows
    ]
    write_table(
        path,
        ScoredRow,
        ({**pair(f"c:{number}"), "candidates": each} for number, each in enumerate(scored)),
    )


def test_main_reads_all_shards(tmp_path):
    write_scored(tmp_path / "0000.parquet", [[1.0, 2.0, None], []])
    write_scored(tmp_path / "0001.parquet", [[0.5, 3.0]])
    output = tmp_path / "threshold.json"
    arguments = ["--folder", str(tmp_path), "--shards", "2", "--output", str(output)]
    main(["--config", '{"keep":{"quantile":0.5}}', *arguments])
    expected = result({"quantile": 0.5}, 2.0, candidates=5, pruned=1, kept=3)
    assert json.loads(output.read_text()) == expected


def sums(*parts):
    found = [np.array(part, np.float32) for part in parts]
    return lambda: iter(found)


def test_the_references_decide_and_not_the_candidates():
    parts, own = passes(([0.5, 2.0, 2.5], [3.0])), sums([2.0, 1.0], [4.0, math.inf])
    keep = {"reference_quantile": 0.5}
    references = {"max_sum": 2.0, "references": 4, "unreadable": 1}
    expected = result(keep, 2.0, candidates=4, pruned=1, kept=2, references=references)
    assert threshold(parts, keep, own) == expected


def test_no_candidate_is_no_error_where_the_references_decide():
    assert threshold(passes(([], [])), {"reference_quantile": 0.5}, sums([1.0]))["kept"] == 0


@pytest.mark.parametrize(
    ("quantile", "own", "message"),
    [
        (0.5, [[]], "no reference that the models can read"),
        (0.5, [[math.inf]], "no reference that the models can read"),
        (0.9, [[1.0, 2.0, math.inf]], r"among the 1 of 3 references .* give 0\.666 at most"),
        (0.5, [[1.0, math.nan]], "a reference's NLL is NaN"),
    ],
)
def test_references_without_such_a_quantile_are_refused(quantile, own, message):
    with pytest.raises(InputError, match=message):
        threshold(passes(([1.0], [])), {"reference_quantile": quantile}, sums(*own))


def write_scores(folder, shards):
    for shard, (candidates, own) in enumerate(shards):
        write_scored(folder / "scored" / f"{shard:04d}.parquet", [candidates])
        rows = [
            {"id": "c:1", "corpus": "c", "forward_nll": 0.0, "backward_nll": total, "sum": total}
            for total in own
        ]
        write_table(folder / "own" / f"{shard:04d}.parquet", ReferenceScoreRow, rows)


def test_main_reads_the_references_of_all_shards(tmp_path):
    write_scores(tmp_path, [([1.0, 2.0], [1.5]), ([3.0], [2.5, 0.5])])
    output = tmp_path / "threshold.json"
    arguments = ["--folder", tmp_path / "scored", "--shards", 2, "--output", output]
    config = json.dumps({"keep": {"reference_quantile": 0.9}})
    with pytest.raises(InputError, match="needs --references"):
        main(["--config", config, *map(str, arguments)])
    main(["--config", config, *map(str, [*arguments, "--references", tmp_path / "own"])])
    found = json.loads(output.read_text())
    assert (found["max_sum"], found["kept"]) == (2.5, 2)
    (tmp_path / "own" / "0001.parquet").write_bytes(b"other")
    with pytest.raises(InputError, match=r"own/0001\.parquet differs from what"):
        main(["--config", config, *map(str, [*arguments, "--references", tmp_path / "own"])])
