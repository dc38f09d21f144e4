"""`pip install .` gives the modules, which work from elsewhere; the workflow needs a clone."""

import os
import shutil
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow


def python(*arguments, folder, installed=None):
    environment = {**os.environ, "PYTHONPATH": str(installed or "")}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of a copy, as pip builds in the folder that it is given; nothing is downloaded."""
    folder = tmp_path_factory.mktemp("package")
    source = folder / "source"
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("paraloom", "workflow_scripts", "requirements"):
        shutil.copytree(ROOT / name, source / name, ignore=ignored)
    for name in ("pyproject.toml", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, source)
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", str(folder)]
    done = python("pip", "wheel", "--quiet", *options, str(source), folder=folder)
    assert done.returncode == 0, done.stderr
    (file,) = folder.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def installed(wheel):
    target = wheel.parent / "installed"
    options = ["--no-deps", "--no-index", "--target", str(target)]
    done = python("pip", "install", "--quiet", *options, str(wheel), folder=wheel.parent)
    assert done.returncode == 0, done.stderr
    return target


@pytest.mark.rest
def test_it_has_every_file_of_the_modules_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    files = [*(ROOT / "paraloom").rglob("*"), *(ROOT / "workflow_scripts").rglob("*")]
    known = {path.relative_to(ROOT).as_posix() for path in files if path.is_file()}
    assert names == {name for name in known if "__pycache__" not in name}


def test_it_asks_for_what_the_stages_import(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode("utf-8"))
    lines = (ROOT / "requirements" / "stages.in").read_text("utf-8").splitlines()
    pinned = {line for line in lines if "==" in line}
    assert pinned < set(metadata.get_all("Requires-Dist"))
    assert "torch" in {each.partition("==")[0] for each in metadata.get_all("Requires-Dist")}


@pytest.mark.rest
@pytest.mark.parametrize("command", ["model translate", "model score", "status"])
def test_its_commands_work_from_elsewhere(installed, tmp_path, command):
    words = ["paraloom", *command.split(), "--help"]
    done = python(*words, folder=tmp_path, installed=installed)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: paraloom {command} ")


def test_what_needs_the_workflow_says_so(installed, tmp_path):
    done = python("workflow_scripts.commands.estimate", folder=tmp_path, installed=installed)
    assert done.returncode == 2
    assert "config.yaml is not there: the package has the modules alone" in done.stderr
