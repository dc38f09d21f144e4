"""A run that tunes a grid, with a classifier, words and documents as in Wieting et al. (2017)."""

import csv
import json

import pytest

from tests.e2e import micro

pytestmark = pytest.mark.e2e


def rows(release, name):
    with (release / "tables" / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_a_grid_is_tuned_and_a_classifier_tested(finished, copy_of):
    pipeline = copy_of(finished)
    graded = pipeline.folder / "graded.tsv"
    lines = graded.read_text(encoding="utf-8").splitlines(keepends=True)
    (pipeline.folder / "chosen.tsv").write_text("".join(lines[::2]), encoding="utf-8")
    documents = "A dog sleeps.\nThe cat sees a dog.\n"
    (pipeline.folder / "documents.txt").write_text(documents, encoding="utf-8")
    changes = {
        "columns": {
            "told": {
                "classifier": {
                    **{"validation": 0.2, "test": 0.2, "negatives": ["random", "hardest"]},
                    "l2": [0, 1e-6],
                }
            }
        },
        "training_sets": {
            "tuned": {
                # Nobody has a thousand words: the second point has no pairs.
                "grid": {"bounds": {"paraphrase_words": {"low": [0, 1000]}}},
                "tune": True,
            }
        },
        "sts": {"data": ["graded.tsv", "chosen.tsv"], "development": ["chosen"]},
        "evaluate": {"punctuation": "tokens", "documents": "documents.txt"},
        "run": {"training_sets": ["tuned"]},
    }
    pipeline = pipeline.with_config(micro.merged(pipeline.config, changes))
    pipeline.run()
    release = pipeline.unit("release")
    best, empty = rows(release, "sts_tuned")
    assert (best["training_set"], best["chosen"]) == ("tuned-micro-1", "1")
    assert float(best["pearson"]) == pytest.approx(
        float(rows(release, "sts")[0]["trained_pearson"])
    )
    assert (empty["pairs"], empty["chosen"], empty["development"]) == ("0", "0", "")
    assert {row["data"] for row in rows(release, "sts_data_sets")} == {"graded", "mean"}
    (told,) = rows(release, "classifiers")
    assert (told["column"], told["data"]) == ("told", "test")
    statistics = pipeline.unit("evaluate.micro") / "statistics.json"
    found = json.loads(statistics.read_text(encoding="utf-8"))
    assert found["documents"] == 2
    assert found["config"]["punctuation"] == "tokens"
    # References that the classifier learnt from have no value.
    assert 0 < found["columns"]["told"]["count"] < found["pairs"]
    assert "The points that were chosen" in (release / "report.html").read_text(encoding="utf-8")
    assert not pipeline.planned()
