"""`make setup` after one that was killed makes everything anew: pip takes the half for whole."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.configs import ROOT

# A Python that makes a folder for `-m venv`, and lists in it what pip is told to install.
PYTHON = """#!/bin/bash
set -e
if [ "$2" = venv ]; then
  if [ "$3" = --clear ]; then rm -rf .venv; shift; fi
  mkdir -p .venv/bin
  cp "$0" .venv/bin/python
else
  echo "${!#}" >>.venv/installed
  if [ "${!#}" = "$KILLED_AT" ]; then kill -KILL $PPID; exit 1; fi
fi
"""
FILES = ["pip", "lock", "torch", "sockeye", "language", "students", "encoder"]
STAMP = ".venv/.installed"


@pytest.fixture
def make(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "requirements").mkdir()
    for name in FILES:
        (tmp_path / "requirements" / f"{name}.txt").touch()
    (tmp_path / "python").write_text(PYTHON, encoding="utf-8")
    (tmp_path / "python").chmod(0o755)

    def run(killed_at=""):
        environment = os.environ | {"PYTHON": str(tmp_path / "python"), "KILLED_AT": killed_at}
        command = ["make", "--silent", STAMP]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True)
        return done.returncode

    return run


def installed(folder):
    return (folder / ".venv/installed").read_text("utf-8").splitlines()


def test_a_setup_that_was_killed_begins_anew(make, tmp_path):
    for killed_at in ("requirements/lock.txt", "requirements/torch.txt"):
        assert make(killed_at) != 0
        assert not (tmp_path / STAMP).exists()
    assert make() == 0
    assert len(installed(tmp_path)) == len(FILES)
    assert not (tmp_path / ".venv/.unfinished").exists()


def test_a_renewed_lock_is_installed_beside_what_is_there(make, tmp_path):
    assert make() == 0
    stamp = (tmp_path / STAMP).stat().st_mtime
    os.utime(tmp_path / "requirements/lock.txt", (stamp + 10, stamp + 10))
    assert make("requirements/lock.txt") != 0
    assert len(installed(tmp_path)) == len(FILES) + 2
    assert make() == 0
    assert len(installed(tmp_path)) == len(FILES)


def test_what_is_set_up_is_left_alone(make, tmp_path):
    assert make() == 0
    assert make("requirements/pip.txt") == 0
    assert len(installed(tmp_path)) == len(FILES)


COMMAND = ".venv/bin/paraloom"


@pytest.mark.slow
def test_the_command_belongs_to_its_clone_also_when_it_is_moved(tmp_path):
    clone = tmp_path / "clone"
    for name in ("paraloom", "workflow_scripts"):
        (clone / name).mkdir(parents=True)
        (clone / name / "__init__.py").touch()
    says = "import sys, workflow_scripts; print(workflow_scripts.__file__, *sys.argv[1:])"
    (clone / "paraloom/__main__.py").write_text(says, encoding="utf-8")
    shutil.copy(ROOT / "Makefile", clone)
    shutil.copytree(ROOT / "requirements", clone / "requirements")
    venv = [sys.executable, "-m", "venv", "--without-pip", ".venv"]
    subprocess.run(venv, cwd=clone, check=True)
    (clone / STAMP).touch()
    subprocess.run(["make", "--silent", COMMAND], cwd=clone, check=True)
    (tmp_path / "linked").symlink_to(clone / COMMAND)

    def said(command):
        # Files of the working directory that are called like modules are not imported.
        (tmp_path / "random.py").write_text("raise SystemExit(3)", encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": ""}
        done = subprocess.run(
            [command, "run", "a b"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE
        )
        return done.stdout.decode().split()

    there = [str(clone / "workflow_scripts/__init__.py"), "run", "a", "b"]
    assert said(clone / COMMAND) == there
    assert said(tmp_path / "linked") == there
    moved = Path(shutil.move(clone, tmp_path / "moved"))
    assert said(moved / COMMAND) == [str(moved / "workflow_scripts/__init__.py"), *there[1:]]
