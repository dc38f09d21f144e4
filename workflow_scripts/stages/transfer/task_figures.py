"""Figures of the transfer tasks from predicted classes and grades, with bootstrap intervals.

All are x 100, as SentEval prints accuracies and the papers print Pearson's r.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from workflow_scripts.core.statistics.bootstrap import BLOCKS, interval, resampled
from workflow_scripts.stages.transfer.protocol import Answers
from workflow_scripts.stages.transfer.senteval_readers import TaskData
from workflow_scripts.stages.transfer.tasks import MRPC, RELATEDNESS, TASKS

Sums = NDArray[np.float64]
_DIGITS = 2


def figures(data: TaskData, answers: Answers, samples: int, seed: int) -> dict[str, Any]:
    """Return what a model reached in a task.

    Returns:
        `metric`, `value` (SentEval's figure) with `low` and `high`, the 95 % interval over the
        tested rows, `development`, `chosen`; of MRPC `f1`, of grades `spearman` and
        `mean_squared_error`. Where no grade was learnt, correlations are 0, other figures None.
    """
    task = TASKS[data.task]
    gold = np.array([row.label for row in data.tested])
    graded = task.kind == RELATEDNESS
    if np.isnan(answers.found).any():
        return {
            **{"metric": "pearson", "value": 0.0, "low": 0.0, "high": 0.0},
            **{"spearman": 0.0, "mean_squared_error": None, "development": None, "chosen": []},
        }
    value = _pearson if graded else _accuracy
    sums = block_sums(data, answers)
    own = float(value(sums.sum(axis=0, keepdims=True))[0])
    reached = {
        "metric": "pearson" if graded else "accuracy",
        "value": round(own if answers.score is None else answers.score, _DIGITS),
        **_rounded(interval(drawn(data, answers, samples, seed))),
        "development": answers.development,
        "chosen": answers.chosen,
    }
    if graded:
        ranks = np.stack(_products(stats.rankdata(gold), stats.rankdata(answers.found)))
        rho = float(_pearson(ranks.sum(axis=1)[None])[0])
        error = float(np.mean((gold - answers.found) ** 2))
        reached |= {"spearman": round(rho, _DIGITS), "mean_squared_error": error}
    if task.form == MRPC:
        reached["f1"] = round(_f1(gold, answers.found), _DIGITS)
    return reached


def drawn(data: TaskData, answers: Answers, samples: int, seed: int) -> Sums:
    """Return the figure of each bootstrap sample of the tested rows, shape (samples,).

    The same rows are drawn for all models, so differences of two are paired.
    """
    value = _pearson if TASKS[data.task].kind == RELATEDNESS else _accuracy
    return np.concatenate(
        [value(sums) for sums in resampled(block_sums(data, answers), samples, seed)]
    )


def gain(
    data: TaskData, better: Sequence[Answers], worse: Sequence[Answers], samples: int, seed: int
) -> dict[str, float] | None:
    """Return how much more one model reached than another, with the 95 % interval.

    Args:
        data: the task.
        better: the answers with the first model, one for each seed of the classifier.
        worse: the same with the other model.
        samples: see `figures`.
        seed: see `figures`.

    Returns:
        `value`, `low` and `high`, of the means of the seeds; None where a grade was not learnt.
    """
    if any(np.isnan(of_seed.found).any() for of_seed in (*better, *worse)):
        return None
    both = [
        np.mean([figures(data, of_seed, 1, seed)["value"] for of_seed in answers])
        for answers in (better, worse)
    ]
    one, other = (
        np.mean([drawn(data, of_seed, samples, seed) for of_seed in answers], axis=0)
        for answers in (better, worse)
    )
    return {"value": round(float(both[0] - both[1]), _DIGITS), **_rounded(interval(one - other))}


def block_sums(data: TaskData, answers: Answers) -> Sums:
    """Return what a figure follows from, summed over blocks of the tested rows.

    Returns:
        Shape (blocks, columns): the number of rows and of right ones; of grades the number and the
        sums of x, y, x², y² and xy.
    """
    gold = np.array([row.label for row in data.tested], np.float64)
    predicted = answers.found
    if TASKS[data.task].kind == RELATEDNESS:
        columns = _products(gold, predicted)
    else:
        columns = [np.ones(len(gold)), (gold == predicted).astype(np.float64)]
    blocks = min(len(gold), BLOCKS)
    place = np.arange(len(gold)) % blocks
    return np.stack([np.bincount(place, column, blocks) for column in columns], axis=1)


def _products(x: Sums, y: Sums) -> list[Sums]:
    """Return what Pearson's r follows from, of each row."""
    return [np.ones(len(x)), x, y, x**2, y**2, x * y]


def _accuracy(sums: Sums) -> Sums:
    return 100 * sums[:, 1] / sums[:, 0]


def _pearson(sums: Sums) -> Sums:
    """Return Pearson's r of sums, 0 where one side does not vary."""
    count, x, y, xx, yy, xy = sums.T
    spread = np.sqrt(np.maximum(count * xx - x**2, 0) * np.maximum(count * yy - y**2, 0))
    return np.divide(100 * (count * xy - x * y), spread, out=np.zeros(len(sums)), where=spread > 0)


def _f1(gold: Sums, predicted: Sums) -> float:
    both = float(np.sum((gold == 1) & (predicted == 1)))
    either = float(np.sum(gold == 1) + np.sum(predicted == 1))
    return 200 * both / either if either else 0.0


def _rounded(ends: dict[str, float]) -> dict[str, float]:
    return {end: round(value, _DIGITS) for end, value in ends.items()}
