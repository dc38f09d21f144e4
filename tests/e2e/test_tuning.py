"""A run that tunes a grid, with a classifier, words and documents as in Wieting et al. (2017).

It has a file of right answers besides.
"""

import csv
import json
import os
from pathlib import Path

import pytest
from pyarrow.parquet import read_table

from tests.configs import changes
from tests.e2e import micro
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ParaphrasesRow

FLUENCY = ["fluency"] if micro.HAS_KENLM else []
pytestmark = [pytest.mark.e2e, pytest.mark.rest]


CHANGES = """
columns.told.classifier: {validation: 0.2, test: 0.2, negatives: [random, hardest],
  l2: [0, 1.0e-6], pairs: 5, each_corpus: true, whole_list: true}
columns.fluency.language_model: {corpora: null, each_corpus: true, references: 4}
training_sets.tuned:
  systems: [micro]
  # Nobody has a thousand words: the second point has no pairs.
  grid: {bounds: {paraphrase_words: {low: [0, 1000]}}, corpora: each}
  tune: true
embeddings.tiny.seeds: [1]
sts.development: [chosen]
evaluate.punctuation: tokens
run: {training_sets: [tuned], rewriters: []}
"""


def rows(release, name):
    with (release / "tables" / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def write_answers(pipeline):
    """Write all that was selected, in capitals, as right answers, and one more; return prompts."""
    shards = sorted(pipeline.unit("select.micro").glob("[0-9]*.parquet"))
    selected = [row for shard in shards for row in read_rows(shard, ParaphrasesRow)]
    pairs = [(row["source"], each["text"]) for row in selected for each in row["paraphrases"]]
    lines = [f"{source}\t{text.upper()}\t1" for source, text in pairs]
    micro.write_lines(pipeline.folder / "answers.tsv", [*lines, "nowhere\tno\t1"])
    return len({source for source, _ in pairs})


def check_answers(pipeline, prompts):
    unit, release = pipeline.unit("evaluate.micro"), pipeline.unit("release")
    found = json.loads((unit / "answers.json").read_text(encoding="utf-8"))
    assert (found["prompts"], found["found"]) == (prompts + 1, prompts)
    assert found["precision"] == found["weighted_recall"] == 1
    total, *_ = rows(release, "answers")
    assert (total["system"], float(total["weighted_macro_f1"])) == ("micro", 1)
    assert 'id="answers"' in (release / "report.html").read_text(encoding="utf-8")
    # The file counts by its content.
    os.utime(pipeline.folder / "answers.tsv")
    assert not pipeline.planned()


def test_a_grid_is_tuned_a_classifier_tested_and_right_answers_are_found(finished, copy_of):
    pipeline = copy_of(finished)
    prompts = write_answers(pipeline)
    graded = Path(pipeline.config["data"]) / "graded.tsv"
    lines = graded.read_text(encoding="utf-8").splitlines(keepends=True)
    development, documents = pipeline.folder / "chosen.tsv", pipeline.folder / "documents.txt"
    reported = pipeline.folder / "graded.tsv"
    for path, half in ((development, lines[::2]), (reported, lines[1::2])):
        path.write_text("".join(half), encoding="utf-8")
    documents.write_text("A dog sleeps.\nThe cat sees a dog.\n", encoding="utf-8")
    files = {
        "sts": {"data": [str(reported), str(development)]},
        "evaluate": {"documents": str(documents), "answers": str(pipeline.folder / "answers.tsv")},
        # Of what no model learnt from.
        "training_sets": {"tuned": {"bounds": {key: [None, None] for key in ("told", *FLUENCY)}}},
    }
    config = micro.merged(micro.merged(pipeline.config, changes(CHANGES)), files)
    pipeline = pipeline.with_config(config)
    pipeline.run()
    release = pipeline.unit("release")
    chosen = rows(release, "sts_tuned")
    assert [(row["grid"], row["training_set"], row["chosen"]) for row in chosen] == [
        ("tuned-micro-held_out", "tuned-micro-1-2", "1"),
        ("tuned-micro-held_out", "tuned-micro-2-2", "0"),
        ("tuned-micro-train", "tuned-micro-1-1", "1"),
        ("tuned-micro-train", "tuned-micro-2-1", "0"),
    ]
    tested = {row["training_set"]: float(row["trained_pearson"]) for row in rows(release, "sts")}
    assert len(tested) == 2
    for best, empty in (chosen[:2], chosen[2:]):
        assert float(best["pearson"]) == pytest.approx(tested[best["training_set"]])
        assert (empty["pairs"], empty["chosen"], empty["development"]) == ("0", "0", "")
    (source,) = rows(release, "sts_sources")
    assert (source["grid"], source["sources"]) == ("tuned-micro", "2")
    assert float(source["pearson"]) == pytest.approx(sum(tested.values()) / 2, abs=1e-3)
    assert float(source["best_pearson"]) == pytest.approx(tested[source["best"]])
    developed = {row["training_set"]: row["development"] for row in chosen if row["chosen"] == "1"}
    assert developed[source["best"]] == max(developed.values(), key=float)
    assert {row["data"] for row in rows(release, "sts_data_sets")} == {"graded", "mean"}
    told = rows(release, "classifiers")
    assert [row["column"] for row in told] == ["told, held_out", "told, train"]
    assert {row["data"] for row in told} == {"test"}
    statistics = pipeline.unit("evaluate.micro") / "statistics.json"
    found = json.loads(statistics.read_text(encoding="utf-8"))
    assert found["documents"] == 2
    assert found["config"]["punctuation"] == "tokens"
    # References that the classifier learnt from have no value.
    assert 0 < found["columns"]["told"]["count"] < found["pairs"]
    assert "The points that were chosen" in (release / "report.html").read_text(encoding="utf-8")
    for name in FLUENCY:
        values = read_table(pipeline.unit(f"filter.{name}-micro") / "0000.parquet")["value"]
        assert 0 < values.null_count < len(values)
    check_answers(pipeline, prompts)
