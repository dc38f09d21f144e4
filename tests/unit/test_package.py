"""The wheel has library, command and workflow, and works without a clone."""

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from glob import glob
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
BUILD = PROJECT["tool"]["hatch"]["build"]["targets"]
# What the wheel holds, by the path in the repository.
PLACES = {"paraloom": "paraloom"} | BUILD["wheel"]["force-include"]
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
    source.mkdir()
    for name in (*PLACES, "README.md", "LICENSE", "NOTICE"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name)
        else:
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


def test_it_has_every_file_of_the_workflow_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    known = set()
    for name, place in PLACES.items():
        # glob follows links to folders, as profiles/default is one.
        folder = (ROOT / name).is_dir()
        paths = glob(f"{ROOT / name}/**", recursive=True) if folder else [f"{ROOT / name}"]  # noqa: PTH207
        files = [path for path in paths if Path(path).is_file()]
        known |= {place + path.removeprefix(f"{ROOT / name}") for path in files}
    assert names == {name for name in known if "__pycache__" not in name}


def test_an_archive_of_sources_has_all_that_the_wheel_is_made_of():
    listed = {*BUILD["sdist"]["only-include"], "pyproject.toml"}  # hatchling adds the latter
    assert set(PLACES) <= listed


def test_it_asks_for_what_the_workflow_needs_and_the_stages_are_an_extra(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode("utf-8"))
    asked = [Requirement(each) for each in metadata.get_all("Requires-Dist")]
    for file, extra in (("base.in", False), ("all.in", True), ("torch.txt", False)):
        lines = (ROOT / "requirements" / file).read_text("utf-8").splitlines()
        pinned = {line for line in lines if "==" in line and line[0] != "#"}
        found = {f"{each.name}{each.specifier}" for each in asked if bool(each.marker) == extra}
        assert pinned <= found
    assert metadata["Version"] == PROJECT["project"]["version"]


def test_the_version_is_that_of_the_project_also_without_metadata(installed, tmp_path):
    """As in a job, whose conda environment has no Paraloom."""
    workflow = tmp_path / "workflow"
    shutil.copytree(installed / "paraloom" / "workflow", workflow)
    program = "from workflow_scripts.core.version import version; print(version())"
    command = [sys.executable, "-S", "-c", program]
    environment = {**os.environ, "PYTHONPATH": str(workflow)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == PROJECT["project"]["version"]


def test_its_commands_work_from_elsewhere(installed, tmp_path):
    for words in (["inspect"], ["judge", "fit"], ["runs"]):
        done = python("paraloom", *words, "--help", folder=tmp_path, installed=installed)
        assert done.returncode == 0, done.stderr
        assert done.stdout.lower().startswith("usage:")


@pytest.mark.rest
def test_it_plans_the_demo_in_an_empty_folder(installed, tmp_path):
    options = ["--", "--dry-run", "--cores", "1"]
    done = python("paraloom", "run", *options, folder=tmp_path, installed=installed)
    assert done.returncode == 0, done.stderr
    assert "clean_shard" in done.stdout


@pytest.mark.rest
def test_what_it_lacks_is_told(installed, tmp_path):
    done = python("paraloom", "setup", "student", folder=tmp_path, installed=installed)
    assert done.returncode == 2
    assert "students" in done.stderr
