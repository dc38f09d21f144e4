"""A run with a file of right answers has them in its report and tables."""

import csv
import json
import os

import pytest

from tests.e2e import micro
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ParaphrasesRow

pytestmark = [pytest.mark.e2e, pytest.mark.rest]


def test_right_answers_are_in_report_and_tables(finished, copy_of):
    pipeline = copy_of(finished)
    before = pipeline.unit("evaluate.micro").name
    shards = sorted(pipeline.unit("select.micro").glob("[0-9]*.parquet"))
    rows = [row for shard in shards for row in read_rows(shard, ParaphrasesRow)]
    pairs = [(row["source"], each["text"]) for row in rows for each in row["paraphrases"]]
    answers = pipeline.folder / "answers.tsv"
    lines = [f"{source}\t{text.upper()}\t1" for source, text in pairs]
    answers.write_text("\n".join([*lines, "nowhere\tno\t1", ""]), encoding="utf-8")
    changes = {"evaluate": {"answers": str(answers)}}
    pipeline = pipeline.with_config(micro.merged(pipeline.config, changes))
    planned = pipeline.planned("evaluate")
    assert planned == {
        **{
            "evaluate_measures": 1,
            "evaluate_statistics": 1,
            "evaluate_bounds": 1,
            "evaluate_ratings": 1,
        },
        **{"evaluate_answers": 1, "manifest": 1, "evaluate": 1},
    }
    pipeline.run()
    unit = pipeline.unit("evaluate.micro")
    assert unit.name != before
    found = json.loads((unit / "answers.json").read_text(encoding="utf-8"))
    prompts = len({source for source, _ in pairs})
    assert (found["prompts"], found["found"]) == (prompts + 1, prompts)
    assert found["precision"] == found["weighted_recall"] == 1
    release = pipeline.unit("release")
    with (release / "tables" / "answers.tsv").open(encoding="utf-8", newline="") as file:
        total, *_ = csv.DictReader(file, delimiter="\t")
    assert (total["system"], float(total["weighted_macro_f1"])) == ("micro", 1)
    assert 'id="answers"' in (release / "report.html").read_text(encoding="utf-8")
    # The file counts by its content.
    os.utime(answers)
    assert not pipeline.planned()
