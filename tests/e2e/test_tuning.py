"""A run that tunes a grid, with a classifier, words and documents as in Wieting et al. (2017)."""

import csv
import json
from pathlib import Path

import pytest

from tests.e2e import micro

pytestmark = [pytest.mark.e2e, pytest.mark.rest]


def rows(release, name):
    with (release / "tables" / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_a_grid_is_tuned_and_a_classifier_tested(finished, copy_of):
    pipeline = copy_of(finished)
    graded = Path(pipeline.config["data"]) / "graded.tsv"
    lines = graded.read_text(encoding="utf-8").splitlines(keepends=True)
    development, documents = pipeline.folder / "chosen.tsv", pipeline.folder / "documents.txt"
    reported = pipeline.folder / "graded.tsv"
    for path, half in ((development, lines[::2]), (reported, lines[1::2])):
        path.write_text("".join(half), encoding="utf-8")
    documents.write_text("A dog sleeps.\nThe cat sees a dog.\n", encoding="utf-8")
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
                "systems": ["micro"],
                # Nobody has a thousand words: the second point has no pairs.
                "grid": {"bounds": {"paraphrase_words": {"low": [0, 1000]}}},
                "tune": True,
            }
        },
        "sts": {"data": [str(reported), str(development)], "development": ["chosen"]},
        "evaluate": {"punctuation": "tokens", "documents": str(documents)},
        "run": {"training_sets": ["tuned"], "rewriters": []},
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
