"""`paraloom setup`: what pip can't resolve, added to the Python that runs.

Each part is installed without its dependencies and against its hashes: the metadata of some ask for
what the others can't have, and not every system has all of them.
"""

import os
import subprocess
import sys
from dataclasses import dataclass

from paraloom.place import WORKFLOW
from workflow_scripts.core.cli import CommandParser, run


@dataclass(frozen=True)
class Part:
    """Something to install.

    Attributes:
        file: its name in requirements/; None for KenLM, which a script compiles.
        serves: what needs it.
        without: what to do where it can't be had.
    """

    file: str | None
    serves: str
    without: str


PARTS = {
    "students": Part(
        "students.txt",
        "two translation models, Portuguese and English: the demo and Paraphraser('en')",
        "name other models (docs/models.md); make testbed needs none, it trains its own",
    ),
    "encoder": Part(
        "encoder.txt",
        "the encoder of sentences: the judge, and columns that compare sentences",
        "name an encoder of yours (docs/judge.md)",
    ),
    "sockeye": Part("sockeye.txt", "training of translation models", "take finished models"),
    "languages": Part("language.txt", "clean.language", "leave clean.language out"),
    "kenlm": Part(
        None,
        "columns of a language model; it needs cmake, a C++ compiler and Boost",
        "leave these columns out",
    ),
}


def set_up(names: list[str]) -> list[str]:
    """Install parts into the environment of this Python, each whether or not another failed.

    Args:
        names: keys of PARTS.

    Returns:
        Those that could not be installed; why stands on the standard error.
    """
    failed = []
    for name in names:
        part = PARTS[name]
        print(f"{name}: {part.serves}", file=sys.stderr)
        if subprocess.run(_command(part), env=_environment()).returncode:
            print(f"{name} can't be had here: {part.without}", file=sys.stderr)
            failed.append(name)
    return failed


def _command(part: Part) -> list[str]:
    if part.file is None:
        return ["bash", str(WORKFLOW / "envs" / "language_model.post-deploy.sh")]
    options = ["--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    file = str(WORKFLOW / "requirements" / part.file)
    return [sys.executable, "-m", "pip", "install", *options, "-r", file]


def _environment() -> dict[str, str]:
    # The script of KenLM installs where conda would say.
    return {**os.environ, "CONDA_PREFIX": sys.prefix}


def main(argv: list[str] | None = None) -> int:
    """Install the parts that are named, or all; return 1 where one can't be had."""
    parser = CommandParser(prog="paraloom setup", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, "all"], default="all")
    chosen = parser.parse_args(argv).parts
    return 1 if set_up(list(PARTS) if "all" in chosen else chosen) else 0


if __name__ == "__main__":
    run(main)
