"""An encoder from scratch, tuned on paraphrases, and both states of it tuned on two tasks."""

import json
from pathlib import Path

import pytest

from tests.e2e import micro
from tests.e2e.pipeline import Pipeline
from tests.rules.test_commands import damage, flipped, in_process, jobs, run_alone
from tests.unit.encoder.tasks.samples import sick, stsb_dev
from workflow_scripts.core.errors import InputError

pytestmark = [pytest.mark.e2e, pytest.mark.rest]


def write_tasks(folder):
    folder.mkdir()
    sick(folder / "SICK")
    stsb_dev(folder / "sts")


def tuned(whole, once):
    """Return the finished run, which goes on from the whole one."""
    data = once("encoder_tasks", write_tasks)
    folders = {"SICK-E": str(data / "SICK"), "STS-B": str(data / "sts")}
    tasks = {"seeds": [1, 2], "epochs": 1, "folds": 2, "data": folders}
    config = micro.merged(whole.config, {"encoder_tasks": tasks})

    def make(folder):
        whole.copy(folder).with_config(config).run()

    return Pipeline(once("tuned", make), config)


def test_both_states_of_an_encoder_are_tuned_on_the_tasks(
    whole, once, copy_of, own_copy_of, monkeypatch
):
    run = tuned(whole, once)
    planned = copy_of(whole).with_config(run.config).planned("encoder")
    # The pairs are others: the sentences of the tasks are left out.
    assert planned == {
        **{"encoder_pairs": 1, "encoder_scratch": 1, "encoder_tune": 1},
        **{"encoder_task": 8, "encoder_tasks": 1, "manifest": 5, "encoder": 1},
    }
    pipeline = own_copy_of(run)
    unit = pipeline.unit("encoder.pbert-tasks")
    comparison = pipeline.unit("encoder.pbert-comparison")
    found = json.loads((comparison / "tasks.json").read_text(encoding="utf-8"))
    assert list(found["tasks"]) == ["SICK-E", "STS-B"]
    assert found["tasks"]["STS-B"]["parts"]["dev"]["in_folds"]
    for task in found["tasks"].values():
        assert task["seeds"] == [1, 2]
        assert task["learning_rates"] == {"plain": [5e-5], "tuned": [5e-5]}
    manifest = json.loads((unit / "manifest.json").read_text(encoding="utf-8"))
    assert set(manifest["parts"]) == {
        f"{task}-{state}-{seed}"
        for task in ("SICK-E", "STS-B")
        for state in ("plain", "tuned")
        for seed in (1, 2)
    }

    report = (pipeline.unit("release") / "report.html").read_text(encoding="utf-8")
    assert 'id="encoders"' in report and 'id="encoder_tasks"' in report
    assert "sentences of half-bt2017," in report

    # The commands alone, and on damaged files.
    output = pipeline.run("encoder", "--dry-run", "--forceall", "--printshellcmds")
    printed = {job.rule: job for job in jobs(output)}
    for rule in ("encoder_task", "encoder_tasks"):
        run_alone(printed[rule], pipeline.folder)
    monkeypatch.chdir(pipeline.folder)
    answers = Path(printed["encoder_tasks"].inputs[0])
    damage(answers, flipped)
    with pytest.raises(InputError, match=answers.name):
        in_process(printed["encoder_tasks"])()
