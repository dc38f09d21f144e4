"""What a job loads before it works: no slow package that it does not need.

A large run starts thousands of jobs, most of them on text alone. One needless import, by way of
another module, costs each of them up to two seconds.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import started

ROOT = Path(__file__).resolve().parents[2]
SLOTS = "workflow_scripts.testbed.lexical_slots"
# From a twentieth of a second (jsonschema) to two seconds (sockeye, with what it loads).
SLOW = {
    *("torch", "sockeye", "transformers", "sentence_transformers", "stanza"),
    *("scipy", "scipy.stats", "sklearn", "pandas", "nltk", "matplotlib"),
    *("jsonschema", "huggingface_hub", "sacremoses", "snakemake"),
    SLOTS,
}
# The packages that commands load, and these commands; all others of the rules load none.
LOADED = {
    "sacremoses": "clean.shard",
    "sacremoses pandas": "evaluate.run_answers",
    "huggingface_hub": "corpus.hub",
    "pandas": "evaluate.statistics evaluate.system_ratings transfer.collect",
    "torch": "dual_filter.pair_scores encoder.masked encoder.tasks.comparison evaluate.rewriting"
    " filter.classify filter.embedding_score filter.feature_values filter.train_classifier"
    " generate.candidates rewrite.finished_model rewrite.measure rewrite.measure_control"
    " rewrite.continued rewrite.parses rewrite.repair score.reference_scores score.shard"
    " syntax.shard train.take_over",
    "torch sacremoses": "generate.write_sources",
    "torch scipy": "encoder.identification_pairs encoder.tasks.tuning judge.shard",
    "torch scipy scipy.stats": "embed.train judge.grammar.train",
    f"torch scipy scipy.stats pandas {SLOTS}": "lexicon.measure_lexicon",
    "torch transformers huggingface_hub": "filter.encoder_score",
    # scikit-learn loads pandas, where it is there.
    "torch scipy scipy.stats sklearn pandas": "encoder.identify judge.fit_run transfer.represented",
    "torch scipy scipy.stats sklearn pandas nltk": "embed.sts_comparison",
    "torch sockeye": "rewrite.train train.sockeye",
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
