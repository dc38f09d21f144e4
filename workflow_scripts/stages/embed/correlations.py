"""How well similarities agree with gold scores: correlations, means over data sets, intervals."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.statistics.bootstrap import resampled
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.core.text.normalisation import words
from workflow_scripts.stages.embed.sts_readers import BT17_TASKS, DataSet

Similarities = Sequence[NDArray[np.float64]]
# Decimals to which similarities are rounded before they are ranked.
_TIE_DECIMALS = 6


def correlations(
    gold: Sequence[float], similarities: Sequence[float] | NDArray[np.float64]
) -> dict[str, float]:
    """Return Pearson's r and Spearman's rho; 0 where one side does not vary.

    Equal values share the mean of their ranks. Two pairs with the same words have the same cosine,
    but its last digits depend on the order in which numbers are added up: a pair of sentences that
    differ in punctuation alone gets 1, or a little more or less. Ranked as they are, such pairs
    would get different ranks by chance, so similarities are rounded first.
    """
    ranked = np.round(np.asarray(similarities, np.float64), _TIE_DECIMALS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.ConstantInputWarning)
        values = {
            "pearson": stats.pearsonr(gold, similarities).statistic if len(gold) > 1 else 0.0,
            "spearman": stats.spearmanr(gold, ranked).statistic if len(gold) > 1 else 0.0,
        }
    return {name: _rounded(value) for name, value in values.items()}


def _rounded(value: float) -> float:
    return round(float(value), DECIMALS) if np.isfinite(value) else 0.0


def result(data_sets: Sequence[DataSet], similarities: Similarities) -> dict[str, Any]:
    """Return the correlations of each data set, and over them.

    Returns:
        By data set `n`, `pearson` and `spearman`; `bt2017`, the mean of those of `BT17_TASKS` that
        are there, and how many these are; `mean` of the data sets, with those of each
        group in `by_group`; `weighted`, the mean weighted by size; `all`, of all pairs as if they
        were one data set.

    Raises:
        InputError: a gold score or a similarity is no finite number.
    """
    _require_finite(data_sets, similarities)
    single = {
        data_set.name: {"n": len(data_set.scores), **correlations(data_set.scores, values)}
        for data_set, values in zip(data_sets, similarities, strict=True)
    }
    groups: dict[str, list[str]] = {}
    for data_set in data_sets:
        groups.setdefault(data_set.group, []).append(data_set.name)
    everything = [score for data_set in data_sets for score in data_set.scores]
    pooled = np.concatenate([*similarities, np.empty(0)])
    tasks = [single[name] for name in BT17_TASKS if name in single]
    return {
        **single,
        "bt2017": {**_mean(tasks), "data_sets": len(tasks)},
        "mean": {
            **_mean(list(single.values())),
            "by_group": {
                group: _mean([single[name] for name in names]) for group, names in groups.items()
            },
        },
        "weighted": _mean(list(single.values()), [data_set["n"] for data_set in single.values()]),
        "all": {"n": len(everything), **correlations(everything, pooled)},
    }


def _require_finite(data_sets: Sequence[DataSet], similarities: Similarities) -> None:
    for data_set, similarity in zip(data_sets, similarities, strict=True):
        for what, values in (("gold score", data_set.scores), ("similarity", similarity)):
            if not np.isfinite(values).all():
                place = int(np.flatnonzero(~np.isfinite(values))[0]) + 1
                raise InputError(
                    f"{data_set.name}: the {what} of pair {place} of those that have a score is no "
                    "finite number; look at the data set, and at the model's weights"
                )


def _mean(
    rows: Sequence[dict[str, float]], weights: Sequence[float] | None = None
) -> dict[str, float | None]:
    if not rows or (weights is not None and not sum(weights)):
        return {"pearson": None, "spearman": None}
    return {
        name: _rounded(float(np.average([row[name] for row in rows], weights=weights)))
        for name in ("pearson", "spearman")
    }


def overlap(first: str, second: str) -> float:
    """Return the cosine of the sets of words of two sentences: the baseline of SemEval.

    (Agirre et al., SemEval-2012 task 6: binary vectors of tokens.)
    """
    one, other = set(words(first)), set(words(second))
    if not one or not other:
        return 0.0
    return len(one & other) / float(np.sqrt(len(one) * len(other)))


def overlaps(data_sets: Sequence[DataSet]) -> list[NDArray[np.float64]]:
    """Return the overlap of each pair of each data set."""
    return [np.array([overlap(*pair) for pair in data_set.pairs]) for data_set in data_sets]


def gain(
    data_sets: Sequence[DataSet],
    better: Sequence[Similarities],
    worse: Sequence[Similarities],
    samples: int,
    seed: int,
) -> dict[str, float] | None:
    """Return by how much the mean Pearson of one method exceeds that of another, with an interval.

    The interval is a 95 % percentile interval of a paired bootstrap over pairs, within each data
    set. A method may have several repetitions (other seeds); then their mean Pearson counts.

    Args:
        data_sets: at least one, or there is no result.
        better: the similarities that one method finds, for each of its repetitions.
        worse: those that the other finds.
        samples: bootstrap samples to draw.
        seed: of the draws.

    Raises:
        InputError: a gold score or a similarity is no finite number.
    """
    for method in (*better, *worse):
        _require_finite(data_sets, method)
    if not data_sets:
        return None
    # The weight of each repetition's Pearson in the difference.
    shares = np.array([1 / len(better)] * len(better) + [-1 / len(worse)] * len(worse))
    differences, drawn = [], []
    for number, data_set in enumerate(data_sets):
        of_repetitions = [similarities[number] for similarities in (*better, *worse)]
        columns = np.column_stack([data_set.scores, *of_repetitions])
        columns -= columns.mean(axis=0)
        gold, others = columns[:, :1], columns[:, 1:]
        sums = np.column_stack([columns, columns**2, gold * others])
        differences.append(_pearson(sums.sum(axis=0)[None], len(sums))[0] @ shares)
        chunks = [_pearson(chunk, len(sums)) @ shares for chunk in resampled(sums, samples, seed)]
        drawn.append(np.concatenate(chunks))
    low, high = np.quantile(np.mean(drawn, axis=0), (0.025, 0.975))
    return {
        "pearson": _rounded(float(np.mean(differences))),
        "low": _rounded(low),
        "high": _rounded(high),
    }


def _pearson(sums: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return Pearson's r of the gold scores with each of the others.

    Args:
        sums: shape (rows, 3 n + 2) for n others: of the gold scores and the others, of their
            squares, and of the products of each other with the gold scores.
        count: how many values each sum has.

    Returns:
        Shape (rows, n).
    """
    others = (sums.shape[1] - 2) // 3
    means, squares, products = np.split(sums / count, (others + 1, 2 * others + 2), axis=1)
    variances = squares - means**2
    covariances = products - means[:, :1] * means[:, 1:]
    scale = np.sqrt(np.clip(variances[:, :1] * variances[:, 1:], 0.0, None))
    return np.divide(covariances, scale, out=np.zeros_like(scale), where=scale > 1e-12)
