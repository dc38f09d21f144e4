"""Transfer tasks of the embeddings of a finished run, and of bags of words beside it."""

import json

import pytest

from tests.rules.test_commands import damage, flipped, in_process, jobs, run_alone
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.transfer.tasks import TASKS

pytestmark = [pytest.mark.e2e, pytest.mark.rest]


def test_embeddings_are_tested_and_stand_in_the_release(whole, own_copy_of, monkeypatch):
    pipeline = own_copy_of(whole)
    bag = json.loads((pipeline.unit("transfer.bag_of_words") / "transfer.json").read_text("utf-8"))
    assert set(bag["states"]["given"]) == {"CR", "SICK-R"}
    tables = pipeline.unit("release") / "tables"
    rows = (tables / "transfer.tsv").read_text("utf-8").splitlines()
    # Of two tasks: each of the two embeddings has two states, and the bag of words one.
    assert len(rows) == 1 + 2 * (2 * 2 + 1)
    report = (pipeline.unit("release") / "report.html").read_text("utf-8")
    assert 'id="transfer_tasks"' in report
    absent = ", ".join(name for name in TASKS if name not in ("CR", "SICK-R"))
    assert f"Not tested: {absent}." in report

    # The commands alone, and on damaged files.
    output = pipeline.run("transfer", "--dry-run", "--forceall", "--printshellcmds")
    monkeypatch.chdir(pipeline.folder)
    for job in jobs(output):
        if not job.rule.startswith("transfer_"):
            continue
        run_alone(job, pipeline.folder)
        for name in job.inputs:
            if not name.endswith(".parquet"):
                continue
            content = damage(pipeline.folder / name, flipped)
            with pytest.raises(InputError, match="differs from what its stage wrote"):
                in_process(job)()
            (pipeline.folder / name).write_bytes(content)
