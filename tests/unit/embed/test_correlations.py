import numpy as np
import pytest
from scipy import stats

from workflow_scripts.encoding.embedding import cosines
from workflow_scripts.stages.embed.correlations import correlations, gain, overlap, overlaps, result
from workflow_scripts.stages.embed.sts_readers import BT17_TASKS, DataSet


def data_set(name, scores, group="g"):
    pairs = tuple((f"a {n}", f"b {n}") for n in range(len(scores)))
    return DataSet(group, name, tuple(scores), pairs, 0)


def test_correlations_are_scipys():
    random = np.random.default_rng(1)
    gold, found = random.normal(size=(2, 50))
    assert correlations(gold, found) == {
        "pearson": pytest.approx(stats.pearsonr(gold, found)[0], abs=1e-6),
        "spearman": pytest.approx(stats.spearmanr(gold, found)[0], abs=1e-6),
    }


def test_ties_share_their_rank_however_their_last_digits_were_rounded():
    gold = [1.0, 2.0, 3.0, 4.0]
    equal = correlations(gold, [0.1, 0.5, 0.5, 0.9])["spearman"]
    for last in (1e-9, -1e-16):
        assert correlations(gold, [0.1, 0.5, 0.5 + last, 0.9])["spearman"] == equal
    assert equal == pytest.approx(stats.spearmanr(gold, [1, 2.5, 2.5, 4])[0], abs=1e-6)


def test_pairs_with_the_same_words_are_ties():
    """Their cosines differ in the last digits: numbers were added up in another order."""
    random = np.random.default_rng(3)
    vectors = random.normal(size=(40, 9, 300)).astype(np.float32)
    first = np.array([words.mean(axis=0) for words in vectors])
    second = np.array([words[::-1].mean(axis=0) for words in vectors])
    found = cosines(first, second)
    assert len(set(found)) > 1
    assert correlations(range(40), found)["spearman"] == 0.0


@pytest.mark.parametrize("pair", [([1.0, 1.0], [0.2, 0.3]), ([1.0, 2.0], [3.0, 3.0]), ([1], [2])])
def test_what_does_not_vary_has_no_correlation(pair):
    assert correlations(*pair) == {"pearson": 0.0, "spearman": 0.0}


def test_means_are_over_data_sets_by_group_and_by_size():
    random = np.random.default_rng(2)
    sizes = {"x.a": 10, "x.b": 30, "y.c": 60}
    sets = [data_set(name, random.normal(size=size), name[0]) for name, size in sizes.items()]
    found = [random.normal(size=size) for size in sizes.values()]
    figures = result(sets, found)
    single = [stats.pearsonr(s.scores, f)[0] for s, f in zip(sets, found, strict=True)]
    ranks = [stats.spearmanr(s.scores, f)[0] for s, f in zip(sets, found, strict=True)]
    assert [figures[name]["n"] for name in sizes] == list(sizes.values())
    assert [figures[name]["pearson"] for name in sizes] == pytest.approx(single, abs=1e-6)
    assert figures["mean"]["pearson"] == pytest.approx(np.mean(single), abs=1e-6)
    assert figures["mean"]["spearman"] == pytest.approx(np.mean(ranks), abs=1e-6)
    by_group = figures["mean"]["by_group"]
    assert by_group["x"]["pearson"] == pytest.approx(np.mean(single[:2]), abs=1e-6)
    assert by_group["y"]["pearson"] == pytest.approx(single[2], abs=1e-6)
    weighted = (10 * single[0] + 30 * single[1] + 60 * single[2]) / 100
    assert figures["weighted"]["pearson"] == pytest.approx(weighted, abs=1e-6)
    pooled = stats.pearsonr(np.concatenate([s.scores for s in sets]), np.concatenate(found))[0]
    assert figures["all"] == {
        "n": 100,
        "pearson": pytest.approx(pooled, abs=1e-6),
        "spearman": figures["all"]["spearman"],
    }


def test_the_mean_of_the_22_tasks_is_of_those_that_are_there():
    """Wieting et al. (2017), 5.1: STS 2012 to 2015, SICK and Twitter; 2016 is for tuning."""
    assert len(BT17_TASKS) == 22
    sets = [data_set(name, [1.0, 2.0, 3.0], name[:4]) for name in ("2014.images", "2016.headlines")]
    figures = result(sets, [np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 1.0])])
    assert figures["bt2017"] == {"pearson": 1.0, "spearman": 1.0, "data_sets": 1}
    assert figures["mean"]["pearson"] == 0.0
    assert result([], [])["bt2017"] == {"pearson": None, "spearman": None, "data_sets": 0}


def test_no_data_sets_give_no_means():
    figures = result([], [])
    assert figures["mean"]["pearson"] is None
    assert figures["all"]["n"] == 0


def test_overlap_is_the_cosine_of_the_sets_of_words():
    assert overlap("The dog sleeps.", "the DOG, the dog sleeps") == pytest.approx(1.0)
    assert overlap("a b c d", "a x y z") == pytest.approx(0.25)
    assert overlap("a", "a b c d") == pytest.approx(0.5)
    assert overlap("...", "a") == 0.0
    (found,) = overlaps([data_set("s", [1.0, 2.0])])
    assert found.tolist() == [overlap("a 0", "b 0"), overlap("a 1", "b 1")]


def test_gain_is_the_difference_of_the_means_and_lies_in_its_interval():
    random = np.random.default_rng(3)
    sets, better, worse = [], [], []
    for name, size in (("a", 200), ("b", 80)):
        gold = random.normal(size=size)
        sets.append(data_set(name, gold))
        better.append(gold + random.normal(size=size))
        worse.append(gold + 3 * random.normal(size=size))
    found = gain(sets, [better], [worse], 500, 1)
    expected = result(sets, better)["mean"]["pearson"] - result(sets, worse)["mean"]["pearson"]
    assert found["pearson"] == pytest.approx(expected, abs=1e-5)
    assert 0 < found["low"] < found["pearson"] < found["high"]
    assert gain(sets, [better], [worse], 500, 1) == found
    back = gain(sets, [worse], [better], 500, 1)
    assert (back["low"], back["high"]) == pytest.approx((-found["high"], -found["low"]), abs=1e-5)


@pytest.mark.slow
def test_the_interval_is_as_wide_as_that_of_a_plain_bootstrap():
    random = np.random.default_rng(4)
    gold, one, other = random.normal(size=(3, 60))
    one += gold
    found = gain([data_set("a", gold)], [[one]], [[other]], 1000, 1)
    draws = random.integers(60, size=(500, 60))
    plain = [
        stats.pearsonr(gold[rows], one[rows])[0] - stats.pearsonr(gold[rows], other[rows])[0]
        for rows in draws
    ]
    low, high = np.quantile(plain, (0.025, 0.975))
    assert (found["low"], found["high"]) == pytest.approx((low, high), abs=0.06)


def test_no_gain_without_data_or_variation():
    assert gain([], [], [], 10, 1) is None
    sets, same = [data_set("a", [1.0, 2.0, 3.0])], [np.array([1.0, 1.0, 1.0])]
    assert gain(sets, [same], [same], 10, 1) == {"pearson": 0.0, "low": 0.0, "high": 0.0}


def test_the_pearson_of_several_repetitions_is_their_mean():
    random = np.random.default_rng(5)
    gold = random.normal(size=150)
    sets = [data_set("a", gold)]
    better = [[gold + random.normal(size=150)] for _ in range(3)]
    worse = [[gold + 2 * random.normal(size=150)] for _ in range(2)]
    found = gain(sets, better, worse, 300, 1)
    means = [
        np.mean([stats.pearsonr(gold, similarities)[0] for (similarities,) in each])
        for each in (better, worse)
    ]
    assert found["pearson"] == pytest.approx(means[0] - means[1], abs=1e-5)
    assert found["low"] < found["pearson"] < found["high"]
    doubled = gain(sets, better * 2, worse, 300, 1)
    assert doubled == pytest.approx(found, abs=1e-5)
