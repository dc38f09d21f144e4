import pytest

from tests.unit.train.conftest import MICRO
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.file_lock import locked
from workflow_scripts.stages.train import process, work_folder
from workflow_scripts.stages.train.process import ProgressLines, run_sockeye


def test_progress_lines_say_updates_rate_time_left_and_perplexity(monkeypatch, capsys):
    monkeypatch.setattr(process, "INTERVAL_SECONDS", 0.0)
    lines = ProgressLines("forward", MICRO | {"max_updates": 1000, "update_interval": 2})
    lines.read("[INFO:sockeye.training] Checkpoint [1]\tValidation-ppl=9.876543\n")
    lines.read("[INFO:sockeye.training] Saved optimizer state\n")
    lines.read(
        "[INFO:sockeye.training] E=1 B=500\ts/sec=99.27 tok/sec=1833.60 u/sec=2.50\tppl=12.345 \n"
    )
    assert capsys.readouterr().err == (
        "train forward: 250 of 1,000 updates (25%), 2.50/s, 5.0 min left at most, "
        "perplexity 12.35, validation 9.88\n"
    )


def test_progress_lines_are_seldom(capsys):
    lines = ProgressLines("forward", MICRO | {"update_interval": 1})
    for batch in range(50, 500, 50):
        lines.read(f"E=1 B={batch}\ts/sec=99.27 tok/sec=1833.60 u/sec=2.50\tppl=12.345 \n")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("print('the reason'); raise SystemExit(3)", r"exit status 3(?s:.*)the reason"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "was killed"),
        ("print('CUDA out of memory.'); raise SystemExit(1)", "halve batch_words"),
        ("raise OSError(28, 'No space left on device')", "^[^\n]*: no space left on device; free"),
    ],
)
def test_a_failure_shows_the_end_of_the_log(tmp_path, monkeypatch, script, message):
    (tmp_path / work_folder.LOG).write_text("".join(f"old line {n}\n" for n in range(100)))
    monkeypatch.setattr(process, "LAUNCHER", ["-c", script])
    lines = ProgressLines("forward", MICRO | {"update_interval": 1})
    with locked(tmp_path) as lock, pytest.raises(InputError, match=message) as error:
        run_sockeye(tmp_path, lock, lines, threads=1)
    assert "goes on from its last checkpoint" in str(error.value)
    assert "old line 50" not in str(error.value)
