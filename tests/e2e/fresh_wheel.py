"""What the wheel gives in an environment of its own: `make test-wheel` starts these tests.

Packages are installed, torch among them, so that they take minutes and are no part of `make test`.
"""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.configs import ROOT
from workflow_scripts.core.version import version

SHIM = ROOT.parent / "shared" / "tools" / "conda-shim" / "bin"
# A job that took the outer environment's NumPy would end here.
POISON = """
import sys as _sys
if "workflow_scripts.stages" in " ".join(_sys.orig_argv):
    raise ImportError("a job sees the packages of the environment that Snakemake runs in")
"""


class Installed:
    """An environment with the wheel, and a folder without anything of Paraloom in it."""

    def __init__(self, folder):
        self.bin, self.work = folder / "env" / "bin", folder / "work"
        self.work.mkdir()
        venv.create(folder / "env", with_pip=True)

    def run(self, *command, **settings):
        path = os.pathsep.join([str(self.bin), "/usr/bin", "/bin"])
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment |= {"PATH": path} | settings.pop("variables", {})
        done = subprocess.run(
            command, cwd=self.work, env=environment, capture_output=True, text=True, **settings
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The wheel and what it asks for, without extras, and the parts that paraphrasing needs."""
    (wheel,) = (ROOT / "dist").glob("paraloom-*.whl")
    made = Installed(tmp_path_factory.mktemp("base"))
    made.run("python", "-m", "pip", "install", "--quiet", str(wheel))
    made.run("paraloom", "setup", "students", "encoder")
    return made


def test_the_version_is_that_of_the_project(base):
    assert base.run("paraloom", "--version").split()[-1] == version()


def test_the_base_install_paraphrases(base):
    sentence = "Please turn the lights off when you leave.\n"
    out = base.run("paraloom", "paraphrase", "-n", "2", "--to", "jsonl", input=sentence)
    (answer,) = map(json.loads, out.splitlines())
    assert len(answer["paraphrases"]) == 2


def test_the_library_paraphrases(base):
    program = "import paraloom; print(len(paraloom.Paraphraser('en')('I am not sure.', n=1)))"
    assert base.run("python", "-c", program).strip() == "1"


def test_the_demo_is_planned_in_an_empty_folder(base):
    assert "release" in base.run("paraloom", "run", "--", "--dry-run", "--quiet", "host")


def test_the_demo_runs_on_what_is_set_up_for_it(base):
    base.run("paraloom", "setup", "demo")
    where = base.run("python", "-c", "from paraloom.place import WORKFLOW; print(WORKFLOW)").strip()
    recipe = f"data: {where}\ngenerate: {{limit: 4}}\n"
    (base.work / "few.yaml").write_text(recipe, encoding="utf-8")
    base.run("paraloom", "run", "--brief", "recipes/demo.yaml", "few.yaml", "--", "--cores", "2")
    assert base.run("paraloom", "runs", "show", "demo")


@pytest.mark.skipif(not SHIM.is_dir(), reason=f"no stand-in for conda at {SHIM}")
def test_jobs_see_the_packages_of_their_own_environment(base):
    found = base.run("python", "-c", "import numpy; print(numpy.__file__)").strip()
    with Path(found).open("a", encoding="utf-8") as file:
        file.write(POISON)
    path = os.pathsep.join([str(SHIM), str(base.bin), "/usr/bin", "/bin"])
    variables = {"PATH": path, "CONDA_SHIM_PYTHON": sys.executable}
    options = ["--use-conda", "--cores", "2", "--quiet", "all"]
    base.run("paraloom", "run", "--", "clean", *options, variables=variables)
    manifests = {path: path.stat().st_mtime for path in base.work.rglob("clean/**/manifest.json")}
    assert manifests
    again = ["clean", "--forcerun", "clean", *options]
    base.run("paraloom", "run", "--", *again, variables=variables)
    found = list(base.work.rglob("clean/**/manifest.json"))
    assert sorted(found) == sorted(manifests)
    assert all(path.stat().st_mtime > manifests[path] for path in found)
