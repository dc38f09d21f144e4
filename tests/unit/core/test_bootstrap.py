import numpy as np
import pytest

from workflow_scripts.core.statistics import bootstrap
from workflow_scripts.core.statistics.bootstrap import interval, means, rank_intervals, resampled
from workflow_scripts.stages.evaluate.diversity import bleu_counts, one_minus_bleu, sentence


def corpus(random, lines, similarity):
    """Made-up counts of `lines` lines of 12 words: shape (lines, 2, 4)."""
    totals = np.tile(np.array([12, 11, 10, 9]), (lines, 1))
    chance = np.clip(random.normal(similarity, 0.1, size=(lines, 1)), 0, 1)
    return np.stack([random.binomial(totals, chance), totals], axis=1)


def test_samples_are_seeded_and_have_the_size_of_the_corpus():
    blocks = np.arange(30).reshape(15, 2)
    blocks[:, 1] = 1
    samples = np.concatenate(list(resampled(blocks, 100, seed=7)))
    assert samples.shape == (100, 2)
    assert (samples[:, 1] == 15).all()  # 15 references are drawn each time
    assert len(set(samples[:, 0])) > 30
    again = np.concatenate(list(resampled(blocks, 100, seed=7)))
    other = np.concatenate(list(resampled(blocks, 100, seed=8)))
    assert (samples == again).all()
    assert (samples != other).any()


def test_weights_follow_the_multinomial():
    # The mean of the bootstrap means is the mean, their variance that of the mean.
    values = np.random.default_rng(0).normal(size=400)
    sums = np.concatenate(list(resampled(values[:, None], 4000, seed=1)))[:, 0] / 400
    assert sums.mean() == pytest.approx(values.mean(), abs=0.005)
    assert sums.std() == pytest.approx(values.std() / 20, rel=0.05)


def test_interval_is_the_central_95_percent():
    assert interval(np.arange(1001.0)) == {"low": 25.0, "high": 975.0}


def test_difference_is_paired():
    # Both ranks vary together from reference to reference, so their difference hardly does.
    random = np.random.default_rng(3)
    first = corpus(random, 300, 0.6)
    last = first.copy()
    last[:, 0] = np.maximum(last[:, 0] - 1, 0)
    by_rank, difference = rank_intervals(
        np.stack([first, last], axis=1), one_minus_bleu, 400, seed=1
    )
    widths = [each["high"] - each["low"] for each in (*by_rank, difference)]
    assert difference["low"] > 0
    assert widths[2] < min(widths[:2]) / 2


@pytest.mark.slow
def test_coverage():
    # The 95 % interval holds the population's value in about 95 of 100 samples from it.
    random = np.random.default_rng(5)
    truth = one_minus_bleu(corpus(random, 200_000, 0.5).sum(axis=0))
    held = 0
    for trial in range(200):
        by_rank, _ = rank_intervals(
            corpus(random, 150, 0.5)[:, None], one_minus_bleu, 200, seed=trial
        )
        held += by_rank[0]["low"] <= truth <= by_rank[0]["high"]
    assert 180 <= held <= 198


def test_blocks_of_several_references_have_the_same_interval():
    random = np.random.default_rng(9)
    single = corpus(random, 6000, 0.5)[:, None]
    blocks = single.reshape(600, 10, 1, 2, 4).sum(axis=1)
    by_single, _ = rank_intervals(single, one_minus_bleu, 1000, seed=1)
    by_block, _ = rank_intervals(blocks, one_minus_bleu, 1000, seed=1)
    width = by_single[0]["high"] - by_single[0]["low"]
    for end in ("low", "high"):
        assert by_block[0][end] == pytest.approx(by_single[0][end], abs=width / 8)


def test_chunks_do_not_change_the_form_of_the_result(monkeypatch):
    blocks = np.stack([bleu_counts(sentence("a b c d"), sentence("a b c d"))] * 3)[:, None]
    monkeypatch.setattr(bootstrap, "CHUNK", 7)
    samples = list(resampled(blocks.reshape(3, -1), 20, seed=1))
    assert [len(chunk) for chunk in samples] == [7, 7, 6]


def test_intervals_of_means_are_those_of_normal_theory():
    random = np.random.default_rng(5)
    values = random.integers(0, 10, size=(900, 2))
    by_rank, difference = rank_intervals(np.insert(values, 0, 1, axis=1), means, 4000, seed=1)
    errors = values.std(axis=0) / 30
    for each, mean, error in zip(by_rank, values.mean(axis=0), errors, strict=True):
        assert each["low"] == pytest.approx(mean - 1.96 * error, abs=0.15 * error)
        assert each["high"] == pytest.approx(mean + 1.96 * error, abs=0.15 * error)
    both = values[:, 1] - values[:, 0]
    assert difference["low"] == pytest.approx(both.mean() - 1.96 * both.std() / 30, abs=0.03)


def test_means_over_blocks_weigh_their_references():
    # One block of three references, all 2; one of a single reference, 10.
    blocks = np.array([[3, 6], [1, 10]])
    (only,), difference = rank_intervals(blocks, means, 2000, seed=1)
    assert only == {"low": 2.0, "high": 10.0}
    assert difference == {"low": 0.0, "high": 0.0}
