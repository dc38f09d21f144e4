"""The command for one model."""

import json

import numpy as np
import pytest

from tests.unit.transfer.conftest import write
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.transfer import measure_model
from workflow_scripts.stages.transfer.tasks import TASKS

FAST = ["--folds", "3", "--bootstrap", "20"]


def measured(capsys, *arguments):
    fast = [word for pair in zip(FAST[::2], FAST[1::2], strict=True)
            if pair[0] not in arguments for word in pair]  # fmt: skip
    measure_model.main([*fast, *map(str, arguments)])
    captured = capsys.readouterr()
    return json.loads(captured.out), captured.err


@pytest.fixture
def vectors(tmp_path, senteval):
    words = {
        word
        for path in senteval.rglob("*")
        if path.is_file()
        for word in path.read_text("utf-8").lower().split()
    }
    random = np.random.default_rng(1)
    lines = [f"{word} " + " ".join(map(str, random.normal(size=8))) for word in sorted(words)]
    write(tmp_path / "vectors.txt", "\n".join(lines) + "\n")
    return tmp_path / "vectors.txt"


@pytest.mark.slow
def test_all_tasks_by_word_vectors(capsys, senteval, vectors):
    found, said = measured(capsys, "--vectors", vectors, "--data", senteval)
    assert list(found["tasks"]) == list(TASKS)
    assert found["missing"] == []
    for name, each in found["tasks"].items():
        assert each["metric"] == ("pearson" if name == "SICK-R" else "accuracy")
        assert each["low"] <= each["value"] <= each["high"]
        assert found["data"][name]["rows"]
    assert found["tasks"]["MRPC"]["f1"] > 50
    assert "are of the tasks' words" in said


@pytest.mark.slow
def test_what_was_done_is_not_done_again(capsys, senteval, vectors, tmp_path, monkeypatch):
    command = ["--vectors", vectors, "--data", senteval, "--tasks", "CR", "SICK-R"]
    command += ["--work", tmp_path / "work"]
    first, said = measured(capsys, *command)
    assert "CR: " in said

    def forbidden(*_):
        raise AssertionError("it was done before")

    with monkeypatch.context() as patch:
        patch.setattr(measure_model, "answers", forbidden)
        again, said = measured(capsys, *command)
        assert again == first
        with pytest.raises(AssertionError):  # other settings are other answers
            measured(capsys, *command, "--scaled")
        with pytest.raises(AssertionError):
            measured(capsys, *command, "--seeds", "7")
    for path in (tmp_path / "work").glob("answers-*"):
        path.write_text(path.read_text("utf-8").replace("1.0", "0.0"), "utf-8")
    assert measured(capsys, *command)[0] == first


@pytest.mark.slow
def test_several_seeds_are_averaged(capsys, senteval, vectors):
    command = ["--vectors", vectors, "--data", senteval, "--tasks", "TREC", "--seeds"]
    both = measured(capsys, *command, "1", "2")[0]["tasks"]["TREC"]
    alone = [measured(capsys, *command, seed)[0]["tasks"]["TREC"]["value"] for seed in "12"]
    assert both["by_seed"] == alone
    assert both["value"] == pytest.approx(np.mean(alone), abs=0.01)


@pytest.mark.parametrize("turned", [1, -1])
def test_a_figure_that_a_seed_lacks_is_no_figure_of_another_seed(turned):
    learnt = {"metric": "pearson", "value": 60.0, "mean_squared_error": 0.5, "chosen": []}
    nothing = {**learnt, "value": 0.0, "mean_squared_error": None}
    found = measure_model.over_seeds([learnt, nothing][::turned])
    assert (found["value"], found["mean_squared_error"]) == (30.0, None)
    assert found["by_seed"] == [60.0, 0.0][::turned]


@pytest.mark.slow
def test_bags_of_words_have_scikit_learns_classifier(capsys, senteval):
    command = ["--bag-of-words", "--data", senteval, "--tasks", "MR", "SICK-R", "SICK-E"]
    default = measured(capsys, *command)[0]
    assert default["tasks"]["MR"]["chosen"][0] >= 0.25  # C, and no L2
    assert measured(capsys, *command, "--classifier", "sklearn")[0] == default
    assert default["tasks"]["MR"]["value"] > 90


def test_missing_tasks_are_told_and_named_ones_needed(capsys, senteval, vectors):
    for path in (senteval / "MRPC").iterdir():
        path.unlink()
    command = ["--vectors", vectors, "--data", senteval]
    found, said = measured(capsys, *command, "--tasks", "CR")
    assert "MRPC" in found["missing"]
    assert "not in the data, or not asked for: MR, SUBJ" in said
    with pytest.raises(InputError, match="MRPC is in none of"):
        measured(capsys, *command, "--tasks", "MRPC")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bag-of-words", "--untrained"], "--untrained goes with --model"),
        (["--bag-of-words", "--folds", "1"], "at least 2"),
        (["--bag-of-words", "--bootstrap", "0"], "at least 1"),
        (["--bag-of-words", "--seeds", str(2**32)], "is too great"),
        (["--vectors", "nothing.txt"], "no such file of word vectors"),
        (["--model", "nothing"], "no such folder of a model"),
    ],
)
def test_options_that_make_no_sense_are_refused(capsys, senteval, arguments, message):
    with pytest.raises(InputError, match=message):
        measured(capsys, "--data", senteval, *arguments)
