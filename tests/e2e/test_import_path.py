"""Python files that lie in the working directory: nothing of the workflow imports them.

`python -m` puts the working directory first on Python's search path.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e import micro
from tests.e2e.pipeline import Pipeline
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.file_lock import locked
from workflow_scripts.stages.train import process, sockeye2

# Each leaves a trace, and fails.
TRAP = """
import os
with open({trace!r}, "a") as trace:
    trace.write(__file__ + chr(10))
os._exit(99)
"""
# A module that Python's library, Snakemake and the stages import, and another clone.
TRAPS = ["random.py", "workflow_scripts/__init__.py", "workflow_scripts/stages/corpus/__init__.py"]


def set_traps(folder: Path) -> Path:
    """Write the traps into a folder; return the file that appears if one of them is imported."""
    trace = folder / "trace"
    for name in TRAPS:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TRAP.format(trace=str(trace)), encoding="utf-8")
    return trace


@pytest.fixture
def trapped(tmp_path):
    """A folder with traps; they work."""
    folder = tmp_path / "work"
    trace = set_traps(folder)
    for command in (["-c", "import random"], ["-m", "workflow_scripts.commands.status", "--help"]):
        done = subprocess.run([sys.executable, *command], cwd=folder, check=False)
        assert done.returncode == 99
        trace.unlink()
    return folder


@pytest.mark.rest
@pytest.mark.e2e
def test_jobs_here_and_on_a_cluster_import_nothing_from_the_working_directory(
    bitext, finished, trapped
):
    pipeline = Pipeline(trapped, micro.config(bitext))
    pipeline.run("corpus")
    # A cluster whose submission is the job itself: its Snakemake is `python -m snakemake`.
    cluster = ["--executor", "cluster-generic", "--cluster-generic-submit-cmd", "sh"]
    pipeline.run("clean", *cluster, "--jobs", "1")
    assert not (trapped / "trace").exists()
    assert pipeline.hashes("clean") == finished.hashes("clean")


@pytest.mark.parametrize("knows_safe_path", [True, False])
def test_training_imports_nothing_from_the_working_directory(
    trapped, tmp_path, monkeypatch, knows_safe_path
):
    """Nor does one in the Python of Sockeye 2, which is too old to know PYTHONSAFEPATH."""
    python = tmp_path / "python"
    forget = "" if knows_safe_path else "unset PYTHONSAFEPATH\n"
    python.write_text(f'#!/bin/sh\n{forget}exec {sys.executable} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    monkeypatch.chdir(trapped)
    with pytest.raises(InputError, match="has no Sockeye 2 on MXNet"):
        sockeye2.find_interpreter(str(python))
    work = tmp_path / "work-of-training"
    work.mkdir()
    with locked(work) as lock, pytest.raises(InputError, match=r"(?s)exit status.*plan.json"):
        lines = process.ProgressLines("forward", {"max_updates": 1, "update_interval": 1})
        process.run_sockeye(work, lock, lines, 1, str(python))
    assert not (trapped / "trace").exists()
