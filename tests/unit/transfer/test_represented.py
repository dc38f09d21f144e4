"""The units of a run, its section of the report and its tables."""

import json

import pytest

from tests.golden.inputs import arguments
from tests.tables import write_training_pairs
from tests.unit.embed import examples
from tests.unit.embed.test_train import collected
from tests.unit.transfer.conftest import write_senteval
from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.section import sections
from workflow_scripts.stages.embed import train
from workflow_scripts.stages.transfer import collect, report, represented
from workflow_scripts.stages.transfer.senteval_readers import read_task
from workflow_scripts.stages.transfer.tasks import TASKS, found

NAMES = ["CR", "TREC", "SICK-R"]
SETTINGS = {"classifier": "adam", "folds": 3, "seeds": [1111]}
SETTINGS |= {"scaled": True, "bootstrap": 20, "seed": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The tasks, an embedding of each of two seeds and a bag of words, tested."""
    path = tmp_path_factory.mktemp("transfer")
    senteval = write_senteval(path / "senteval")
    config = {"data": [str(senteval)], "tasks": NAMES}
    tasks = path / "tasks/sentences.parquet"
    collect.main(arguments(config, output=tasks))
    known = read_task(TASKS["CR"], found([senteval])["CR"]).tested[0].first
    pairs = [*examples.simulated_pairs(40), (known.upper(), "what is it")]
    table = write_training_pairs(path / "pairs.parquet", pairs)
    for seed in (1, 2):
        given = (table, collected(path, []), {"epochs": 1}, seed)
        train.main(examples.train_arguments(path / f"model{seed}", *given, output="."))
        named = {"entry": "word", "training_set": "all-x", "repetition": seed}
        unit(path, f"word-all-x-seed{seed}", {"kind": "embedding", **named}, seed)
    unit(path, "bag_of_words", {"kind": "bag_of_words"})
    return path


def unit(path, name, settings, seed=None):
    files = {"tasks": path / "tasks/sentences.parquet", "work": path / name / "work"}
    if seed is not None:
        files |= {"model": path / f"model{seed}", "pairs": path / "pairs.parquet"}
    config = {**SETTINGS, "name": name, **settings}
    represented.main(arguments(config, **files, output=path / name / "transfer.json"))


def finished(path):
    names = ["tasks", "word-all-x-seed1", "word-all-x-seed2", "bag_of_words"]
    return FinishedRun({}, [(("transfer", name), path / name) for name in names])


@pytest.mark.slow
def test_tasks_come_back_as_they_were_read(folder):
    files = found([folder / "senteval"])
    back = collect.read_collected(folder / "tasks/sentences.parquet")
    assert back == [read_task(TASKS[name], files[name]) for name in files if name in NAMES]
    record = verify(folder / "tasks/sentences.parquet")
    assert record["extra"]["missing"] == [name for name in TASKS if name not in NAMES]
    assert record["rows_out"] == sum(len(rows) for each in back for rows in each.parts.values())


def test_an_embedding_stands_beside_its_untrained_self(folder):
    result = read(folder, "word-all-x-seed1")
    assert list(result["states"]) == ["trained", "untrained"]
    for task in NAMES:
        values = [result["states"][state][task]["value"] for state in ("trained", "untrained")]
        gain = result["gain"][task]
        if task == "SICK-R":  # the embedding knows none of its words
            assert gain is None
            assert values == [0, 0]
            continue
        assert gain["value"] == pytest.approx(values[0] - values[1], abs=0.011)
        assert gain["low"] <= gain["high"]
    assert not (folder / "word-all-x-seed1/work").exists()
    verify(folder / "word-all-x-seed1/testing.json")


def test_tested_rows_that_a_training_pair_has_are_counted(folder):
    result = read(folder, "word-all-x-seed1")
    tasks = collect.read_collected(folder / "tasks/sentences.parquet")
    first = tasks[0].tested[0].first
    assert result["seen"]["CR"] == sum(row.first == first for row in tasks[0].tested) > 0
    assert result["seen"]["SICK-R"] == 0
    bag = read(folder, "bag_of_words")
    assert bag["seen"] is None
    assert bag["gain"] == {}


def read(folder, name):
    return json.loads((folder / name / "transfer.json").read_text("utf-8"))


def test_the_section_shows_models_by_task_gains_and_data(folder):
    assert report.transfer_tasks(FinishedRun({}, [])) is None
    run = finished(folder)
    shown = report.transfer_tasks(run)
    assert [(row["name"], row["state"]) for row in shown["rows"]] == [
        ("word", "trained"),
        ("word", "untrained"),
        ("bag_of_words", "given"),
    ]
    cells = shown["rows"][0]["cells"]
    assert cells["CR"]["deviation"] is not None
    assert cells["CR"]["low"] is None
    assert shown["rows"][2]["cells"]["CR"]["low"] is not None
    assert [row["seed"] for row in shown["gains"]] == [1, 2]
    (section,) = sections(["workflow_scripts.stages.transfer.report:transfer_tasks"], run)
    assert "train 144, test 144" in section.html
    for text in ("Transfer tasks", "bag_of_words", "SICK-R", "MRPC", "scaled", "untrained"):
        assert text in section.html


def test_the_tables_have_a_row_for_each_model_and_task(folder):
    run = finished(folder)
    by_name = report.transfer(run).frame().to_dict("records")
    assert len(by_name) == 3 * len(NAMES)
    assert {(row["model"], row["seeds"]) for row in by_name} == {("word", 2), ("bag_of_words", 1)}
    gains = report.transfer_gains(run)
    assert len(gains.frame()) == 2 * len(NAMES)
    data = report.transfer_data(run).frame()
    assert list(data["task"]) == NAMES
    assert list(data)[-2:] == ["training_set", "seen"]
    result = read(folder, "word-all-x-seed1")
    assert list(data.iloc[0])[-2:] == ["all-x", result["seen"]["CR"]]


def test_a_grade_that_was_not_learnt_shows_as_0(folder, tmp_path):
    path = tmp_path / "bag_of_words"
    content = read(folder, "bag_of_words")
    content["states"]["given"]["SICK-R"] |= {"value": 0.0, "development": None}
    path.mkdir()
    (path / "transfer.json").write_text(json.dumps(content), "utf-8")
    write_record(path / "testing.json", 1, 1, {}, files=[path / "transfer.json"])
    units = [(("transfer", "tasks"), folder / "tasks"), (("transfer", "bag_of_words"), path)]
    table = report.transfer(FinishedRun({}, units))
    assert table.frame()["development"].iloc[-1] is None
