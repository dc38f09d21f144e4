"""What a job loads before it works: no slow package that it does not need.

A large run starts thousands of jobs, most of them on text alone. One needless import, by way of
another module, costs each of them up to two seconds.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import LEXICAL_SLOTS, LOADED, started

ROOT = Path(__file__).resolve().parents[2]
# From a twentieth of a second (jsonschema) to two seconds (sockeye, with what it loads).
SLOW = {
    *("torch", "sockeye", "transformers", "sentence_transformers", "stanza"),
    *("scipy", "scipy.stats", "sklearn", "pandas", "nltk", "matplotlib"),
    *("jsonschema", "huggingface_hub", "sacremoses", "snakemake"),
    LEXICAL_SLOTS,
}
# Those of the stages go by what is behind `stages.`.
COMMANDS = {module.removeprefix("stages.") for module in started().values()}
LISTED = " ".join(LOADED.values()).split()
# Tells for each module in turn which of the slow packages it is the first to load.
PROGRAM = """
import importlib, sys
slow = set(sys.argv[1].split())
for name in sys.argv[2].split():
    place = "" if name.startswith("core.") else "stages."
    importlib.import_module(f"workflow_scripts.{place}{name}")
    for package in sorted(slow & set(sys.modules)):
        print(name, package)
    slow -= set(sys.modules)
"""


def first_loads(commands):
    """Return (command, package) for each slow package that commands of one process load."""
    words = [sys.executable, "-c", PROGRAM, " ".join(SLOW), " ".join(commands)]
    done = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)
    return [tuple(line.split()) for line in done.stdout.splitlines()]


@pytest.mark.slow
def test_most_commands_of_the_rules_load_nothing_slow():
    assert len(LISTED) == len(set(LISTED))
    assert COMMANDS.issuperset(LISTED)
    assert not first_loads(sorted(COMMANDS.difference(LISTED)))


@pytest.mark.rest
@pytest.mark.parametrize(("packages", "commands"), LOADED.items(), ids=LOADED)
def test_the_others_load_what_they_need_and_no_more(packages, commands):
    """The first of the commands loads all that they may load, so that no later one is a first."""
    first = commands.split()[0]
    assert set(first_loads(commands.split())) == {(first, each) for each in packages.split()}
