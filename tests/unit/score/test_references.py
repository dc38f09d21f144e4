import math

import numpy as np
import pytest

from tests.golden.inputs import arguments
from tests.tables import pair, write_table
from tests.unit.dual_filter.conftest import LONGEST, REFERENCES, SOURCES
from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.files.parquet import TableWriter, read_rows
from workflow_scripts.core.files.rows import (
    CandidatesRow,
    ReferenceRow,
    ReferenceScoreRow,
    ScoredRow,
)
from workflow_scripts.stages.score import shard
from workflow_scripts.stages.score.reference_scores import main


def write_references(folder):
    """Write six references; that of the last one is too long for the models."""
    path = folder / "references.parquet"
    references = [*REFERENCES[:-1], "dog " * LONGEST]
    rows = [
        pair(f"c:{number}", *texts) | {"corpus": "c" if number % 2 else "d"}
        for number, texts in enumerate(zip(SOURCES, references, strict=True))
    ]
    return write_table(path, ReferenceRow, rows)


def run(models, references, output, *options):
    files = {"references": references, "output": output}
    main([*arguments({"precision": "fp32"}, **{**files, **models}), "--device", "cpu", *options])
    return list(read_rows(output, ReferenceScoreRow))


@pytest.mark.slow
def test_references_are_scored_both_ways(tmp_path, models):
    references = write_references(tmp_path)
    rows = run(models, references, tmp_path / "own.parquet")
    given = list(read_rows(references, ReferenceRow))
    assert [(row["id"], row["corpus"]) for row in rows] == [
        (row["id"], row["corpus"]) for row in given
    ]
    for row in rows:
        assert row["sum"] == np.float32(row["forward_nll"]) + np.float32(row["backward_nll"])
    assert math.isinf(rows[-1]["sum"])
    assert all(math.isfinite(row["sum"]) for row in rows[:-1])
    assert verify(tmp_path / "own.parquet")["extra"] == {"unreadable": 1}


@pytest.mark.slow
def test_the_backward_nll_is_that_of_a_candidate_with_the_same_text(tmp_path, models):
    references = write_references(tmp_path)
    rows = run(models, references, tmp_path / "own.parquet")
    candidates = tmp_path / "candidates.parquet"
    with TableWriter(candidates, CandidatesRow) as writer:
        for row in read_rows(references, ReferenceRow):
            same = {"set": 0, "sample": 0, "variant": "", "text": row["reference"]}
            counts = {"sets": [], "dropped": 0, "blocked": 0, "unmet": 0}
            writer.write({**row, **counts, "candidates": [same | {"forward_nll": 0.5}]})
    write_record(candidates, len(rows), len(rows), {})
    files = {"candidates": candidates, "model": models["backward"]}
    files |= {"output": tmp_path / "scored.parquet"}
    shard.main(arguments({"prune_above": None, "precision": "fp32"}, **files, device="cpu"))
    for row, scored in zip(rows, read_rows(tmp_path / "scored.parquet", ScoredRow), strict=True):
        (candidate,) = scored["candidates"]
        assert row["backward_nll"] == pytest.approx(candidate["backward_nll"], abs=1e-5)


@pytest.mark.slow
def test_batches_change_nothing(tmp_path, models):
    references = write_references(tmp_path)
    rows = run(models, references, tmp_path / "own.parquet")
    small = run(models, references, tmp_path / "small.parquet", "--batch-tokens", "1")
    for one, other in zip(rows, small, strict=True):
        assert one["sum"] == pytest.approx(other["sum"], abs=1e-5)
