import itertools
from pathlib import Path

import pytest

from workflow_scripts.stages.lexicon import measures_precision
from workflow_scripts.stages.lexicon.measures_data import Listed, Rule
from workflow_scripts.stages.lexicon.measures_precision import (
    Best,
    antonyms,
    cuts,
    listed_resource,
    precision,
    ranked,
    wordnet_resource,
)
from workflow_scripts.stages.lexicon.measures_wordnet import WordNet


def _numbered(count: int) -> list[tuple[str, str]]:
    return [(f"a{number}", f"b{number}") for number in range(count)]


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, []), (7, [7]), (100, [100]), (101, [100, 101]), (20_000, [100, 1000, 10_000])],
)
def test_cuts_end_with_all_that_there_are(count: int, expected: list[int]) -> None:
    assert cuts(_numbered(count)) == expected


def test_best_counts_each_entry_once_and_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures_precision, "CUTS", (1, 2, 3))
    best = Best(lambda phrase: phrase != "x")
    entries = [("a", "b"), ("x", "y"), ("a", "b"), ("c c", "d"), ("e", "f g h"), ("i", "j")]
    for pair in entries:
        best.add(pair)
    assert best.entries() == [("a", "b"), ("c c", "d"), ("e", "f g h")]
    # A length goes on where all together have enough.
    assert best.entries("1") == [("a", "b"), ("i", "j")]
    assert best.entries("3") == [("e", "f g h")]


def test_precision_by_wordnet(wordnet: WordNet) -> None:
    entries = [("buy", "purchase"), ("dogs", "dog"), ("dog", "canine"), ("dog", "unheard")]
    (cut,) = precision(entries, wordnet_resource(wordnet), 200, 1)
    assert (cut["entries"], cut["both_known"]) == (4, 3)
    assert cut["relations"] == {"synonym": 1, "form": 1, "hypernym": 1}
    assert cut["precision"]["value"] == 0.25
    assert cut["with_further"]["value"] == 0.75
    assert cut["precision_both_known"] == pytest.approx(1 / 3, abs=1e-6)
    assert cut["precision"]["low"] == 0.0 and cut["precision"]["high"] >= 0.5


def test_both_directions_are_drawn_together(wordnet: WordNet) -> None:
    # Two pairs in both directions: half or all or none is right in every sample, never a quarter.
    pairs = [("buy", "purchase"), ("hot", "cold")]
    entries = [entry for pair in pairs for entry in (pair, pair[::-1])]
    (cut,) = precision(entries, wordnet_resource(wordnet), 500, 1)
    assert (cut["precision"]["low"], cut["precision"]["high"]) == (0.0, 1.0)


def test_chance_pairs_phrases_at_random(tmp_path: Path) -> None:
    words = [f"w{number}" for number in range(200)]
    path = tmp_path / "list.txt"
    path.write_text("".join(f"{word} {word}x\n" for word in words))
    entries = [(word, f"{word}x") for word in words]
    listed = Listed(path, {phrase for pair in entries for phrase in pair})
    figures = precision(entries, listed_resource(listed), 50, 1)
    assert figures[0]["precision"] == {"value": 1.0, "low": 1.0, "high": 1.0}
    assert figures[-1]["entries"] == 200 and figures[-1]["chance"] < 0.05


def test_rules_with_scores_come_best_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures_precision, "CUTS", (1, 2, 3))
    monkeypatch.setattr(measures_precision, "_MOST_RULES", 4)
    rules = [Rule(f"a{number}", "b", float(number % 7)) for number in range(40)]
    rules += [Rule("a0", "b", 9.0), Rule("x", "b", 99.0)]
    best = ranked(rules, lambda phrase: phrase != "x", 1)
    assert best == [("a0", "b"), ("a13", "b"), ("a20", "b")]


def test_rules_without_scores_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures_precision, "CUTS", (5,))
    rules = [Rule(f"a{number}", "b", None) for number in range(100)]
    one, same, other = (ranked(rules, bool, seed) for seed in (1, 1, 2))
    assert one == same != other and len(one) == 5
    # No order of the file decides: the first five are not the sample.
    assert one != [(rule.phrase, "b") for rule in itertools.islice(rules, 5)]


def test_antonyms_are_counted_by_source(wordnet: WordNet) -> None:
    entries = [("buy", "purchase"), ("hot", "cold"), ("boys", "girl")]
    sources = {"wordnet": wordnet.antonyms, "files": lambda one, other: (one, other) == ("x", "y")}
    (cut,) = antonyms(entries, sources)
    assert cut["by_source"]["wordnet"] == {
        "count": 2,
        "share": pytest.approx(2 / 3, abs=1e-6),
        "first": [["hot", "cold"], ["boys", "girl"]],
    }
    assert cut["by_source"]["files"]["count"] == 0
