"""Everything that `make setup` installs is pinned by version and, but for torch, by hash."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "requirements"
LOCKED = ("pip", "lock", "sockeye", "language", "students", "encoder")
# What `make lock` makes lock.txt of, besides torch-needs.in.
INPUTS = ("base", "all", "dev", "docs")
PINNED = re.compile(
    r"[a-z0-9][a-z0-9-]*==[0-9][\w.]*(?: ; .+)?(?: \\\n    --hash=sha256:[0-9a-f]{64})+"
)
# What a CUDA build of torch asks for, and no other.
CUDA = re.compile(r"nvidia-|cuda-|triton")


def text(name):
    return (FOLDER / name).read_text(encoding="utf-8")


def requirements(name):
    """The requirements of a file of requirements/, without their hashes."""
    for line in text(name).splitlines():
        if line and not line.startswith((" ", "#")):
            yield Requirement(line.removesuffix(" \\"))


def here(name):
    """The versions by package that a file of requirements/ pins for this machine and Python."""
    return {
        canonicalize_name(requirement.name): str(requirement.specifier).removeprefix("==")
        for requirement in requirements(name)
        if requirement.marker is None or requirement.marker.evaluate()
    }


@pytest.mark.parametrize("name", LOCKED)
def test_a_lock_holds_nothing_but_versions_with_hashes(name):
    lines = text(f"{name}.txt").splitlines()
    rest = PINNED.sub("", "\n".join(line for line in lines if not re.match(r" *#", line)))
    # No index, no path, no address, no local version such as 2.13.0+cpu.
    assert not rest.strip()


@pytest.mark.parametrize("name", LOCKED)
def test_the_comments_of_a_lock_name_no_folder_of_a_machine(name):
    assert not re.search(r"(?m)#.*(/|://)", text(f"{name}.txt"))


@pytest.mark.parametrize("name", INPUTS)
def test_the_lock_holds_what_was_asked_for(name):
    locked = here("lock.txt")
    asked = {
        canonicalize_name(requirement.name): str(requirement.specifier)
        for requirement in requirements(f"{name}.in")
    }
    assert asked == {package: f"=={locked.get(package)}" for package in asked}


@pytest.mark.parametrize("name", ["pip", "sockeye", "students", "encoder"])
def test_the_small_locks_hold_what_was_asked_for(name):
    asked = set(map(str, requirements(f"{name}.in")))
    assert asked <= {f"{package}=={version}" for package, version in here(f"{name}.txt").items()}


def test_torch_is_in_no_lock():
    assert not any("torch" in here(f"{name}.txt") for name in LOCKED)
    (torch,) = requirements("torch.txt")
    assert re.fullmatch(r"torch==[\d.]+", str(torch))


def test_what_is_installed_is_what_is_locked():
    locked = here("pip.txt") | here("lock.txt") | here("sockeye.txt") | here("torch.txt")
    installed = {
        canonicalize_name(each.metadata["Name"]): each.version.partition("+")[0]
        for each in metadata.distributions()
    }
    assert {name: installed.get(name) for name in locked} == locked


def needs(package):
    """What a distribution that is installed asks for on this machine, without extras."""
    for line in metadata.requires(package) or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield requirement


@pytest.mark.slow
def test_the_lock_lacks_nothing_that_its_packages_ask_for():
    """As pip installs it with --no-deps, nobody else would notice."""
    locked = here("lock.txt") | here("torch.txt")
    missing = [
        f"{package} asks for {need}"
        for package in here("lock.txt")
        for need in needs(package)
        if not need.specifier.contains(locked.get(canonicalize_name(need.name), "0"))
    ]
    assert not missing


def test_what_every_build_of_torch_asks_for_is_named():
    named = {requirement.name: requirement for requirement in requirements("torch-needs.in")}
    asked = {need.name: need for need in needs("torch") if not CUDA.match(need.name)}
    assert {name: str(need.specifier) for name, need in named.items()} == {
        name: str(need.specifier) for name, need in asked.items()
    }


@pytest.fixture
def other_kenlm(tmp_path):
    """A folder that pip is told of, with another archive under the name of KenLM's."""
    archive = tmp_path / "kenlm-0.3.0"
    archive.mkdir()
    (archive / "setup.py").write_text(
        "open(__import__('os').environ['RAN'], 'w')\n"
        "from setuptools import setup\nsetup(name='kenlm', version='0.3.0')\n"
    )
    packages = tmp_path / "packages"
    packages.mkdir()
    with tarfile.open(packages / "kenlm-0.3.0.tar.gz", "w:gz") as tar:
        tar.add(archive, arcname=archive.name)
    return packages


@pytest.mark.slow
def test_another_archive_of_kenlm_is_not_run(other_kenlm, tmp_path):
    prefix, ran = tmp_path / "prefix", tmp_path / "ran"
    (prefix / "bin").mkdir(parents=True)
    python = prefix / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    done = subprocess.run(
        [shutil.which("bash"), ROOT / "envs" / "language_model.post-deploy.sh"],
        env=os.environ
        | {"CONDA_PREFIX": str(prefix), "RAN": str(ran), "TMPDIR": str(tmp_path)}
        | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(other_kenlm), "PIP_CONFIG_FILE": os.devnull},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr
    assert not ran.exists()
    assert list((prefix / "bin").iterdir()) == [python]
