"""Pairs scored by an embedding of the run itself, on top of a finished one."""

import json

import numpy as np
import pytest

from tests.e2e import micro
from tests.rules.test_commands import damage, flipped, in_process, jobs, read_files, run_alone
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairColumnsRow, PairValueRow, TrainingPairRow
from workflow_scripts.encoding.embedding import load

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

# Neither the training set `whole` nor an embedding of it is named by the run.
FOLDS = {"column": "alike", "of": 2, "keep": [2]}
CHANGES = {
    "columns": {"alike": {"embedding": {"name": "tiny", "training_set": "whole"}}},
    "training_sets": {"whole": {}, "close": {"folds": FOLDS}},
    "embeddings": {"tiny": {"training_sets": ["half", "short"]}},
    "run": {"training_sets": ["half", "short", "close"]},
    "evaluate": {"columns": ["alike"]},
}


def test_pairs_are_scored_by_an_embedding_of_unfiltered_pairs(finished, own_copy_of, monkeypatch):
    tested = finished.unit("embed.sts").name
    pipeline = own_copy_of(finished).with_config(micro.merged(finished.config, CHANGES))
    planned = pipeline.planned("filter", "embed", "evaluate")
    assert planned == {
        **{"filter_training_set": 2, "embed_train": 1, "filter_embedding_score": 1},
        **{
            "evaluate_measures": 1,
            "evaluate_statistics": 1,
            "evaluate_bounds": 1,
            "evaluate_ratings": 1,
            "manifest": 5,
        },
        **dict.fromkeys(("filter", "embed", "evaluate"), 1),
    }
    pipeline.run("filter", "embed", "evaluate")
    assert pipeline.unit("embed.sts").name == tested

    values, pairs = (
        list(read_rows(pipeline.unit(f"filter.{name}") / "0000.parquet", kind))
        for name, kind in (("alike-micro", PairValueRow), ("micro", PairColumnsRow))
    )
    model = load(pipeline.unit("embed.tiny-whole-micro-seed1"))
    for value, row in zip(values, pairs, strict=True):
        one, other = model.encode([row["reference"], row["paraphrase"]])
        norms = np.linalg.norm(one) * np.linalg.norm(other)
        if norms == 0:
            assert value["value"] is None
        else:
            assert value["value"] == pytest.approx(one @ other / norms, abs=1e-5)
    close = read_rows(pipeline.unit("filter.close-micro") / "pairs.parquet", TrainingPairRow)
    found = {(row["reference"], row["paraphrase"]) for row in close}
    scores = {True: [], False: []}
    for value, row in zip(values, pairs, strict=True):
        scores[(row["reference"], row["paraphrase"]) in found].append(value["value"])
    assert len(scores[True]) - len(scores[False]) in (0, 1)
    assert min(scores[True]) >= max(scores[False])
    statistics = pipeline.unit("evaluate.micro") / "statistics.json"
    figures = json.loads(statistics.read_text(encoding="utf-8"))
    assert [each["to"] for each in figures["bins"]["alike"]] == [0.2, 0.4, 0.6, 0.8, 1.0]

    # The command alone, and on damaged files.
    output = pipeline.run("filter", "--dry-run", "--forceall", "--printshellcmds")
    (job,) = (each for each in jobs(output) if each.rule == "filter_embedding_score")
    run_alone(job, pipeline.folder)
    monkeypatch.chdir(pipeline.folder)
    damaged = read_files(job)
    assert len(damaged) == 2  # the pairs, and the model's weights
    for name in damaged:
        content = damage(pipeline.folder / name, flipped)
        with pytest.raises(InputError, match="differs from what its stage wrote"):
            in_process(job)()
        (pipeline.folder / name).write_bytes(content)
