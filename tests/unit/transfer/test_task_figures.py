import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import f1_score

from workflow_scripts.stages.transfer.protocol import Answers
from workflow_scripts.stages.transfer.senteval_readers import Row, TaskData
from workflow_scripts.stages.transfer.task_figures import block_sums, figures, gain


def task(name, labels):
    part = "all" if name in ("MR", "MPQA") else "test"
    return TaskData(name, {part: [Row(float(label), "a", "b") for label in labels]}, [])


def given(found, score=None):
    return Answers(np.array(found, np.float64), 50.0, [1.0], score)


def test_accuracy_and_its_interval():
    labels = [0, 1] * 200
    found = [0, 1] * 150 + [1, 0] * 50
    one = figures(task("SST2", labels), given(found), 500, 1)
    assert (one["metric"], one["value"]) == ("accuracy", 75.0)
    # Of 400 rows the standard error of 75 % is 2.2.
    assert one["low"] == pytest.approx(75 - 4.2, abs=0.8)
    assert one["high"] == pytest.approx(75 + 4.2, abs=0.8)
    assert one == figures(task("SST2", labels), given(found), 500, 1)


def test_sentevals_mean_of_folds_is_the_value_where_there_are_folds():
    assert figures(task("MR", [0, 1]), given([0, 0], 47.5), 20, 1)["value"] == 47.5


def test_grades_have_both_correlations_and_the_error():
    random = np.random.default_rng(0)
    gold = random.uniform(1, 5, 300)
    found = gold + random.normal(size=300)
    one = figures(task("SICK-R", gold), given(found), 200, 1)
    assert one["value"] == pytest.approx(100 * stats.pearsonr(gold, found).statistic, abs=0.01)
    assert one["spearman"] == pytest.approx(100 * stats.spearmanr(gold, found).statistic, abs=0.01)
    assert one["mean_squared_error"] == pytest.approx(np.mean((gold - found) ** 2))
    assert one["low"] < one["value"] < one["high"]


def test_paraphrases_have_f1():
    gold, found = [1, 1, 0, 0, 1], [1, 0, 1, 0, 1]
    one = figures(task("MRPC", gold), given(found), 20, 1)
    assert one["f1"] == pytest.approx(100 * f1_score(gold, found), abs=0.01)
    assert figures(task("MRPC", [0, 0]), given([0, 0]), 20, 1)["f1"] == 0


def test_grades_that_are_all_alike_or_were_not_learnt_are_0_and_give_no_gain():
    data = task("SICK-R", [1, 2, 4])
    nothing, something = given([np.nan] * 3), given([1, 2, 3])
    for each in (nothing, given([3, 3, 3])):
        one = figures(data, each, 20, 1)
        assert (one["value"], one["spearman"], one["low"], one["high"]) == (0, 0, 0, 0)
    assert gain(data, [something], [nothing], 20, 1) is None


def test_a_gain_is_paired():
    labels = [0, 1] * 500
    better, worse = [0, 1] * 450 + [1, 0] * 50, [0, 1] * 400 + [1, 0] * 100
    found = gain(task("SST2", labels), [given(better)], [given(worse)], 500, 1)
    assert found["value"] == 10
    # Only the rows that differ vary: 10 % of 1,000, so the error is 0.95 and not 1.6.
    assert found["high"] - found["low"] == pytest.approx(2 * 1.96 * 0.95, rel=0.2)
    same = gain(task("SST2", labels), [given(better)] * 2, [given(better)], 100, 1)
    assert same == {"value": 0, "low": 0, "high": 0}


def test_more_rows_than_blocks_are_summed_without_loss():
    labels = np.arange(25_000) % 2
    found = np.where(np.arange(25_000) < 5_000, 1 - labels, labels)
    sums = block_sums(task("MPQA", labels), given(found))
    assert sums.shape == (10_000, 2)
    assert sums.sum(axis=0).tolist() == [25_000, 20_000]
