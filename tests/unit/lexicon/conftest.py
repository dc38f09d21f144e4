"""Pairs whose lexicon is known by hand, and a run that makes one."""

import copy

import pytest

from tests.configs import run_on_testbed
from tests.tables import write_training_pairs as write_pairs
from tests.unit.lexicon.wordnet_files import write_wordnet
from workflow_scripts.stages.lexicon import count, entries, words
from workflow_scripts.stages.lexicon.measures_wordnet import WordNet

# "big" is "large" in three pairs and stays in one; "gave up" is "quit" in two.
PAIRS = [
    ("The big dog sleeps.", "The large dog sleeps."),
    ("A big house!", "A large house!"),
    ("My Big cat eats 3 mice.", "My large cat eats 3 mice."),
    ("One big tree.", "One big tree ..."),
    ("She gave up today.", "She quit today."),
    ("He gave up work.", "He quit work."),
    ("They run.", "They run."),
    ("It is " + "very " * 40 + "long.", "It is long."),
]
SETTINGS = {
    **{"max_tokens": 30, "max_words": 3, "min_count": 2, "sample": 100},
    "attested": False,  # few words of these paraphrases stand in a reference
}


def make(folder, sets, shards=1, rows=1 << 20, **changes):
    """Run all three jobs; return the folder of the lexicon."""
    settings = SETTINGS | changes
    words.write_words(settings, sets, folder / "words" / "words.parquet")
    for shard in range(shards):
        output = folder / "counts" / f"{shard:04d}.parquet"
        count.write_counts(settings, sets, folder / "words", shards, output, rows)
    lexicon = folder / "lexicon"
    entries.write_entries(settings, folder / "words", folder / "counts", shards, lexicon)
    return lexicon


@pytest.fixture
def pairs_file(tmp_path):
    return write_pairs(tmp_path / "set" / "pairs.parquet", PAIRS)


@pytest.fixture
def wordnet(tmp_path):
    return WordNet(write_wordnet(tmp_path))


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return run_on_testbed()


def with_lexicon(config, **changes):
    other = copy.deepcopy(config)
    other["run"]["lexicons"] = ["phrases"]
    other["lexicons"] = {"phrases": {"training_sets": ["all"]} | changes}
    return other
