"""Generate, score and select, one after the other, on a small real model."""

import json

import pytest

from tests.tables import pair, write_table
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import CandidatesRow, ParaphrasesRow, ReferenceRow
from workflow_scripts.core.text.normalisation import letters_and_digits
from workflow_scripts.stages.generate import candidates as generate
from workflow_scripts.stages.score import shard as score
from workflow_scripts.stages.select import shard as select
from workflow_scripts.stages.select import threshold

GENERATE = {
    "system": "parabank2",
    "search": {"method": "sample", "k": 10, "samples": 10, "temperature": 1.0},
    "constraints": {"kind": "negative", "choose": "random", "sets": 3, "fraction": [0.0, 0.333]},
    "precision": "fp32",
    "seed": 1,
}


@pytest.fixture(scope="module")
def models(nmt_oracle, tmp_path_factory):
    """A forward model, and the same weights with the sides' names swapped as a backward one."""
    return {
        "forward": nmt_oracle.copy_model(tmp_path_factory.mktemp("forward")),
        "backward": nmt_oracle.copy_model(tmp_path_factory.mktemp("backward"), swap=True),
    }


def run(main, config, **options):
    arguments = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    main(["--config", json.dumps(config), *arguments])


@pytest.mark.slow
def test_from_references_to_paraphrases(nmt_oracle, models, tmp_path):
    pairs = list(nmt_oracle.sentences[:3])
    rows = [pair(f"c:{number}", *texts) for number, texts in enumerate(pairs)]
    write_table(tmp_path / "references.parquet", ReferenceRow, rows)
    run(
        generate.main,
        GENERATE,
        references=tmp_path / "references.parquet",
        model=models["forward"],
        output=tmp_path / "candidates.parquet",
    )
    run(
        score.main,
        {"prune_above": None, "precision": "fp32"},
        candidates=tmp_path / "candidates.parquet",
        model=models["backward"],
        output=tmp_path / "0000.parquet",
    )
    run(
        threshold.main,
        {"keep": {"quantile": 0.6}},
        folder=tmp_path,
        shards=1,
        output=tmp_path / "threshold.json",
    )
    run(
        select.main,
        {"method": "cluster", "clusters": 7, "best": 5},
        scored=tmp_path / "0000.parquet",
        threshold=tmp_path / "threshold.json",
        model=models["forward"],
        output=tmp_path / "selected.parquet",
    )

    found = json.loads((tmp_path / "threshold.json").read_text())
    generated = list(read_rows(tmp_path / "candidates.parquet", CandidatesRow))
    rows = list(read_rows(tmp_path / "selected.parquet", ParaphrasesRow))
    assert [(row["source"], row["reference"]) for row in rows] == pairs
    assert sum(row["candidates"] for row in rows) == found["candidates"]
    assert sum(row["kept"] for row in rows) == found["kept"]
    assert sum(len(row["paraphrases"]) for row in rows) > 5
    for row, origin in zip(rows, generated, strict=True):
        lowest = {}
        for candidate in origin["candidates"]:
            text, nll = candidate["text"], candidate["forward_nll"]
            lowest[text] = min(nll, lowest.get(text, nll))
        assert row["candidates"] == len(lowest)
        assert (len(row["paraphrases"]) == 5) == (row["reason"] == "")
        for rank, paraphrase in enumerate(row["paraphrases"], start=1):
            assert paraphrase["rank"] == rank
            assert paraphrase["forward_nll"] == lowest[paraphrase["text"]]
            assert paraphrase["sum"] <= found["max_sum"]
            assert letters_and_digits(paraphrase["text"]) != letters_and_digits(row["reference"])
