"""Transfer tasks of the embeddings of a finished run, and of bags of words beside it."""

import json

import pytest

from workflow_scripts.stages.transfer.tasks import TASKS

pytestmark = pytest.mark.e2e


def test_embeddings_are_tested_and_stand_in_the_release(whole):
    bag = json.loads((whole.unit("transfer.bag_of_words") / "transfer.json").read_text("utf-8"))
    assert set(bag["states"]["given"]) == {"CR", "SICK-R"}
    tables = whole.unit("release") / "tables"
    rows = (tables / "transfer.tsv").read_text("utf-8").splitlines()
    # Of two tasks: each of the two embeddings has two states, and the bag of words one.
    assert len(rows) == 1 + 2 * (2 * 2 + 1)
    report = (whole.unit("release") / "report.html").read_text("utf-8")
    assert 'id="transfer_tasks"' in report
    absent = ", ".join(name for name in TASKS if name not in ("CR", "SICK-R"))
    assert f"Not tested: {absent}." in report
