"""Columns that are features of pairs, on top of a finished run."""

import json

import pytest

from tests.e2e import micro
from tests.rules.test_commands import damage, flipped, in_process, jobs, read_files, run_alone
from tests.unit.sentence_transformer import write_model
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import (
    PairColumnsRow,
    PairRow,
    PairValueRow,
    ReferenceScoreRow,
    TrainingPairRow,
)
from workflow_scripts.core.text.text_tokens import known_words

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

CHANGES = {
    "columns": {
        "unheard": {"feature": {"name": "unknown_words"}},
        "easier": {"feature": {"name": "forward_gain"}},
        "alike": {"feature": {"name": "cosine", "encoder": {"folder": "encoder/model"}}},
    },
    "training_sets": {"heard": {"bounds": {"unheard": [0, 0]}}},
    "embeddings": {"tiny": {"training_sets": ["half"]}},
    "run": {"training_sets": ["half", "heard"], "rewriters": []},
    "evaluate": {"columns": ["easier", "alike"]},
}


def test_features_bound_training_sets_and_stand_in_tables(finished, own_copy_of, monkeypatch):
    pipeline = own_copy_of(finished).with_config(micro.merged(finished.config, CHANGES))
    write_model(pipeline.folder / finished.config["data"] / "encoder")
    planned = pipeline.planned("filter", "evaluate")
    assert planned == {
        **{"generate_words": 1, "filter_feature": 3, "filter_training_set": 1},
        **{
            "evaluate_measures": 1,
            "evaluate_statistics": 1,
            "evaluate_bounds": 1,
            "evaluate_ratings": 1,
            "manifest": 6,
        },
        **dict.fromkeys(("filter", "evaluate"), 1),
    }
    pipeline.run("filter", "evaluate")

    def rows(name, kind=PairValueRow):
        return list(read_rows(pipeline.unit(name) / "0000.parquet", kind))

    pairs = rows("filter.micro", PairColumnsRow)
    values = {name: rows(f"filter.{name}-micro") for name in ("unheard", "easier", "alike")}
    for found in values.values():
        assert [row["id"] for row in found] == [row["id"] for row in pairs]
    bitext = (row["reference"] for row in rows("clean", PairRow))
    words = pipeline.unit("generate.words") / "words.txt"
    assert set(words.read_text("utf-8").split()) == known_words(bitext)
    references = {row["id"]: row for row in rows("score.references", ReferenceScoreRow)}
    for row, value in zip(pairs, values["easier"], strict=True):
        gain = references[row["id"]]["forward_nll"] - row["translation_cost"]
        assert value["value"] == pytest.approx(gain, abs=1e-5)
    heard = read_rows(pipeline.unit("filter.heard-micro") / "pairs.parquet", TrainingPairRow)
    assert len(list(heard)) == [row["value"] for row in values["unheard"]].count(0)
    statistics = pipeline.unit("evaluate.micro") / "statistics.json"
    figures = json.loads(statistics.read_text(encoding="utf-8"))
    assert set(figures["columns"]) == {"overlap_3", "easier", "alike"}
    assert set(figures["bins"]) == {"alike"}

    # The commands alone, and on damaged files.
    output = pipeline.run("filter", "--dry-run", "--forceall", "--printshellcmds")
    monkeypatch.chdir(pipeline.folder)
    for job in jobs(output):
        if job.rule not in ("generate_words", "filter_feature"):
            continue
        run_alone(job, pipeline.folder)
        data = [name for name in job.inputs if name.endswith("words.txt")]
        for name in [*read_files(job), *data]:
            content = damage(pipeline.folder / name, flipped)
            with pytest.raises(InputError, match=r"differs from what|changed since"):
                in_process(job)()
            (pipeline.folder / name).write_bytes(content)
