"""`paraloom setup`: what each part of Paraloom needs, installed into the Python that runs.

All of it is installed without what it asks for, which the lock holds already, and against its
hashes; requirements/torch.txt says why torch is not. Of the Python packages that pip would bring,
this module imports none: `make` starts it before there are any.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, STDOUT

from paraloom.place import WORKFLOW
from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_text
from workflow_scripts.core.files.space import REASON, says_full

REQUIREMENTS = WORKFLOW / "requirements"
_KENLM = WORKFLOW / "envs" / "language_model.post-deploy.sh"
# In an environment of `make`: the parts that it has, by the hashes of what they ask for.
RECORD = ".parts.json"
_COMMAND = """#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/python" -P -m paraloom "$@"
"""
_HASHED = ("--no-deps", "--require-hashes")
# pip's words where it reaches no index; it then says as well that there is no such package.
_NO_NETWORK = re.compile("connection broken|Connection|Max retries|timed out|name resolution")
_NO_BUILD = "No matching distribution"


@dataclass(frozen=True)
class Part:
    """Something to install: what of lock.txt some *.in files or packages ask for, then files.

    Attributes:
        serves: what needs it.
        without: what to do where it can't be had; None: nothing goes on without.
        asked: *.in files of requirements/, and names of packages in the lock.
        files: further files of requirements/. KenLM has neither: a script compiles it.
    """

    serves: str
    without: str | None = None
    asked: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


PARTS = {
    "base": Part(
        "paraphrases of texts, and the plan of a run",
        asked=("base.in", "torch-needs.in"),
        files=("torch.txt",),
    ),
    # A test asks the demo's jobs what they import (tests/e2e/test_demo.py).
    "demo": Part(
        "the stages of the demo", asked=("apted", "matplotlib", "nltk", "sacrebleu", "sacremoses")
    ),
    "stages": Part("all other stages", asked=("all.in",)),
    "students": Part(
        "two translation models, Portuguese and English: the demo and Paraphraser('en')",
        "name other models (docs/models.md); make testbed needs none, it trains its own",
        files=("students.txt",),
    ),
    "encoder": Part(
        "the encoder of sentences: the judge, and columns that compare sentences",
        "name an encoder of yours (docs/judge.md)",
        files=("encoder.txt",),
    ),
    "sockeye": Part(
        "training of translation models", "take finished models", files=("sockeye.txt",)
    ),
    "languages": Part("clean.language", "leave clean.language out", files=("language.txt",)),
    "kenlm": Part(
        "columns of a language model; it needs cmake, a C++ compiler and Boost (make deps)",
        "leave these columns out",
    ),
    "tests": Part("tests, linters and benchmarks", asked=("dev.in",)),
    "docs": Part("the site", asked=("docs.in",)),
}
# What only those need who work on Paraloom.
_FOR_WORK = {"tests", "docs"}


def locked(asked: tuple[str, ...]) -> str:
    """Return the lines of lock.txt with *.in files and packages, and with all that these need.

    uv writes below each package what asked for it: *.in files and other packages.
    """
    blocks = re.split(r"(?m)^(?=\w)", _text("lock.txt"))[1:]
    named = [(block.partition("==")[0], block) for block in blocks]
    askers = [
        {name, *re.findall(r"(?m)^ +# +(?:via )?(?:-r )?(\S+)$", block)} for name, block in named
    ]
    before, names = set[str](), set(asked)
    while names != before:
        before = names
        found = zip(named, askers, strict=True)
        names = names | {name for (name, _), those in found if names & those}
    return "".join(block for name, block in named if name in names)


def set_up(names: Collection[str], prefix: Path | None = None) -> list[str]:
    """Install parts, in the order of PARTS.

    Args:
        names: keys of PARTS.
        prefix: a virtual environment that this function makes and keeps a record of. What it has is
            left alone. Where a set-up was cut off it is made anew, since pip takes half a package
            for the whole. None: the environment of this Python.

    Returns:
        Those that can't be had and that one can do without; why stands on the standard error.

    Raises:
        InputError: one can't be had that one can't do without, or the disk is full.
    """
    done = _begun(prefix) if prefix else {}
    python = str(prefix / "bin" / "python") if prefix else sys.executable
    failed = []
    for name, part in PARTS.items():
        if name not in names:
            continue
        steps = _steps(part, python)
        texts = "".join(text for _, text in steps) or _KENLM.read_text(encoding="utf-8")
        asked = hashlib.sha256(texts.encode()).hexdigest()
        if done.get(name) == asked:
            continue
        print(f"{name}: {part.serves}", file=sys.stderr)
        if prefix:
            (prefix / RECORD).unlink()
        if steps:
            reason = next(filter(None, (_failure(*step) for step in steps)), None)
        else:
            # The script installs where conda would say.
            there = {**os.environ, "CONDA_PREFIX": str(prefix or sys.prefix)}
            compiled = subprocess.run(["bash", str(_KENLM)], env=there).returncode == 0
            reason = None if compiled else "it was not compiled, see above"
        if not reason:
            done[name] = asked
        if prefix:
            write_text(prefix / RECORD, json.dumps(done))
        if reason and not part.without:
            raise InputError(f"{name}: {reason}")
        if reason:
            print(f"{name} can't be had: {reason}; or {part.without}", file=sys.stderr)
            failed.append(name)
    return failed


def _begun(prefix: Path) -> dict[str, str]:
    """Return the parts that an environment has.

    It is made anew if it has no record, or if its Python is gone, as after an upgrade.
    """
    record, python = prefix / RECORD, prefix / "bin" / "python"
    if not (record.exists() and python.exists()):
        print(f"{prefix}: an environment of Python {sys.version.split()[0]}", file=sys.stderr)
        for step, text in (
            ([sys.executable, "-m", "venv", "--clear", str(prefix)], ""),
            (_pip(str(python), *_HASHED), _text("pip.txt")),
        ):
            if reason := _failure(step, text):
                raise InputError(reason)
        # The command, and `import paraloom` in any folder: both find the clone from where they are.
        (packages,) = prefix.glob("lib/python*/site-packages")
        path = os.path.relpath(WORKFLOW, packages)
        (packages / "paraloom.pth").write_text(f"{path}\n", encoding="utf-8")
        command = prefix / "bin" / "paraloom"
        command.write_text(_COMMAND, encoding="utf-8")
        command.chmod(0o755)
        write_text(record, "{}")
    done: dict[str, str] = json.loads(record.read_text(encoding="utf-8"))
    return done


def _text(file: str) -> str:
    return (REQUIREMENTS / file).read_text(encoding="utf-8")


def _steps(part: Part, python: str) -> list[tuple[list[str], str]]:
    """Return the commands of pip that install a part, with what each reads; none for KenLM."""
    build = ("--build-constraint", str(REQUIREMENTS / "lock.txt"))
    packages = [(_pip(python, *_HASHED, *build), locked(part.asked))] if part.asked else []
    # Builds of torch ask for different packages.
    binary = (*_HASHED, "--only-binary", ":all:")
    files = [
        (_pip(python, *(() if file == "torch.txt" else binary)), _text(file)) for file in part.files
    ]
    return packages + files


def _pip(python: str, *options: str) -> list[str]:
    # Python compiles what is imported when it is first imported, a tenth of all.
    quick = ["--quiet", "--no-compile", "--disable-pip-version-check"]
    return [python, "-m", "pip", "install", *quick, *options, "-r", "/dev/stdin"]


def _failure(command: list[str], text: str) -> str | None:
    """Run a step, which reads a text; return why it failed where pip finds a package nowhere.

    Raises:
        InputError: it failed otherwise.
    """
    done = subprocess.run(command, input=text, stdout=PIPE, stderr=STDOUT, text=True)
    said = done.stdout.strip()
    if not done.returncode:
        return None
    if says_full(said):
        raise InputError(
            f"{REASON}: free 3 GB where {WORKFLOW} lies, and 1 GB in {tempfile.gettempdir()} "
            "(TMPDIR), and give the same command again"
        )
    if _NO_NETWORK.search(said):
        return (
            "pip reaches no index of packages: is there a network, and does pip config list show "
            "the right one? Then give the same command again"
        )
    if _NO_BUILD in said:
        return said.splitlines()[-1].removeprefix("ERROR: ") + " on this system"
    raise InputError(f"{' '.join(command[1:4])} failed:\n{said}")


def main(argv: list[str] | None = None) -> int:
    """Install the parts that are named, or all that users need; return 1 where one can't be had."""
    parser = CommandParser(prog="paraloom setup", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, "all"], default="all")
    parser.add_argument("--into", type=Path, help="an environment that is made, for make")
    arguments = parser.parse_args(argv)
    everything = "all" in arguments.parts
    names = PARTS.keys() - _FOR_WORK if everything else arguments.parts
    return 1 if set_up(names, arguments.into) else 0


if __name__ == "__main__":
    run(main)
