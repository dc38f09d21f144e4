import numpy as np
import pytest
from scipy.stats import spearmanr

from workflow_scripts.stages.lexicon.measures_data import WordPairs
from workflow_scripts.stages.lexicon.measures_similarity import (
    chance,
    cosine_of,
    listed,
    similarity,
    spearman,
    unordered,
)

PAIRS = (("a", "b"), ("c", "d"), ("e", "f"), ("g", "h"), ("i", "j"), ("k", "l"))


def _set(scores: tuple[float, ...]) -> WordPairs:
    return WordPairs("set", PAIRS[: len(scores)], scores, 0)


def test_a_pair_has_the_mean_of_both_directions() -> None:
    scores = {("a", "b"): 1.0, ("b", "a"): 3.0, ("d", "c"): 5.0}
    means = unordered(scores, PAIRS[:3])
    assert means[:2].tolist() == [2.0, 5.0] and np.isnan(means[2])
    assert listed(scores, PAIRS[:3])[:2].tolist() == [1.0, 1.0]
    assert np.isnan(listed(scores, PAIRS[:3])[2])


def test_cosines_of_words_that_are_unknown_or_zero() -> None:
    one, zero = np.array([1.0, 0.0], np.float32), np.zeros(2, np.float32)
    vectors = {"a": one, "b": np.array([1.0, 1.0], np.float32), "c": one, "d": zero, "e": one}
    cosines = cosine_of(vectors, PAIRS[:3])
    assert cosines[0] == pytest.approx(0.707107) and np.isnan(cosines[1:]).all()


@pytest.mark.slow
def test_spearman_is_that_of_scipy_with_ties() -> None:
    random = np.random.default_rng(3)
    gold, numbers = random.integers(0, 5, 40) * 1.0, random.integers(0, 4, 40) * 1.0
    got = spearman(gold, numbers, 300, 1)
    assert got is not None
    assert got["value"] == pytest.approx(spearmanr(gold, numbers).statistic, abs=1e-6)
    # Each sample is ranked anew: the interval is that of a plain loop over resamples.
    draws = random.integers(40, size=(4000, 40))
    plain = [spearmanr(gold[places], numbers[places]).statistic for places in draws]
    low, high = np.quantile(plain, (0.025, 0.975))
    assert got["low"] == pytest.approx(low, abs=0.06)
    assert got["high"] == pytest.approx(high, abs=0.06)


def test_spearman_of_nothing_that_varies_is_none() -> None:
    assert spearman(np.array([1.0, 2.0]), np.array([1.0, 2.0]), 10, 1) is None
    assert spearman(np.array([1.0, 2.0, 3.0]), np.zeros(3), 10, 1) is None
    assert spearman(np.empty(0), np.empty(0), 10, 1) is None


def test_what_is_absent_is_below_all_and_shares_a_rank() -> None:
    gold = (6.0, 5.0, 4.0, 3.0, 2.0, 1.0)
    # Negative scores are still above what is absent.
    own = np.array([-1.0, -2.0, np.nan, np.nan, -3.0, np.nan])
    other = np.array([np.nan, 1.0, 2.0, 3.0, 4.0, 5.0])
    figures = similarity([_set(gold)], {"lexicon": [own], "other": [other]}, "lexicon", 50, 1)
    rankers = figures["set"]["rankers"]
    assert (figures["set"]["pairs"], rankers["lexicon"]["covered"]) == (6, 3)
    assert rankers["lexicon"]["on_covered"]["value"] == 1.0
    expected = spearmanr(gold, [5, 4, 1, 1, 3, 1]).statistic
    assert rankers["lexicon"]["on_all"]["value"] == pytest.approx(expected, abs=1e-6)
    # The other is compared on pairs that the lexicon knows as well: two of three.
    assert rankers["other"]["common"] == 2 and rankers["other"]["on_lexicon"] is None
    assert rankers["other"]["covered"] == 5
    assert rankers["other"]["on_covered"]["value"] == -1.0


def test_a_lexicon_that_knows_no_pair_has_no_figure() -> None:
    none = np.full(6, np.nan)
    figures = similarity([_set((1, 2, 3, 4, 5, 6))], {"lexicon": [none]}, "lexicon", 20, 1)
    one = figures["set"]["rankers"]["lexicon"]
    assert one["covered"] == 0
    assert [one[key] for key in ("on_covered", "on_all", "on_lexicon")] == [None] * 3


def test_chance_depends_on_the_seed_alone() -> None:
    assert chance(PAIRS, 1).tolist() == chance(PAIRS, 1).tolist()
    assert chance(PAIRS, 1).tolist() != chance(PAIRS, 2).tolist()
