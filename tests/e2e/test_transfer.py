"""Transfer tasks of the embedding of a finished run, and of bags of words beside it."""

import json

import pytest

from tests.e2e import micro
from tests.rules.test_commands import damage, flipped, in_process, jobs, run_alone
from tests.unit.transfer.conftest import write_senteval
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.transfer.tasks import TASKS

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

CHANGES = {
    "run": {"rewriters": []},
    "transfer": {"data": ["senteval"], "tasks": ["CR", "SICK-R"], "folds": 3, "scaled": True},
}


def test_embeddings_are_tested_and_stand_in_the_release(finished, own_copy_of, monkeypatch):
    pipeline = own_copy_of(finished).with_config(micro.merged(finished.config, CHANGES))
    write_senteval(pipeline.folder / finished.config["data"] / "senteval")
    planned = pipeline.planned("transfer")
    assert planned["transfer_tasks"] == 1
    tested = planned["transfer_test"]
    assert set(planned) == {"transfer_tasks", "transfer_test", "manifest", "transfer"}
    pipeline.run()
    bag = json.loads((pipeline.unit("transfer.bag_of_words") / "transfer.json").read_text("utf-8"))
    assert set(bag["states"]["given"]) == {"CR", "SICK-R"}
    tables = pipeline.unit("release") / "tables"
    rows = (tables / "transfer.tsv").read_text("utf-8").splitlines()
    # Each embedding has two states, and two seeds that share a row; the bag has one state.
    assert len(rows) == 1 + 2 * tested
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
