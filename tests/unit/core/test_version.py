import subprocess
import tomllib
from pathlib import Path

import pytest

from workflow_scripts.core import version as module
from workflow_scripts.core.version import commit, version

ROOT = Path(__file__).resolve().parents[3]


def git(folder, *arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path):
    git(tmp_path, "init", "--quiet")
    (tmp_path / "a").write_text("1")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "--quiet", "-m", "one")
    return tmp_path


def test_the_version_is_that_of_the_checkout(tmp_path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert version() == project["version"]


def test_without_a_checkout_it_is_that_of_the_package_or_unknown(tmp_path, monkeypatch):
    monkeypatch.setattr(module.metadata, "version", lambda name: {"paraloom": "9.9"}[name])
    assert version(tmp_path) == "9.9"
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'other'\nversion = '1'\n")
    assert version(tmp_path) == "9.9"

    def absent(name):
        raise module.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(module.metadata, "version", absent)
    assert version(tmp_path) is None


def test_the_commit_and_whether_files_differ_from_it(repository):
    head = git(repository, "rev-parse", "HEAD")
    (repository / "new").touch()
    assert commit(repository) == head
    (repository / "a").write_text("2")
    assert commit(repository) == f"{head}, with changes that are not committed"


def test_no_commit_without_git_or_in_somebody_elses_repository(repository, monkeypatch):
    (repository / "below").mkdir()
    assert commit(repository / "below") is None
    assert commit(repository / "absent") is None
    monkeypatch.setenv("PATH", "")
    assert commit(repository) is None
