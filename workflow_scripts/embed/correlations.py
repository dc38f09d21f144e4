"""How well similarities agree with gold scores: correlations, means over data sets, intervals."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from workflow_scripts.core.text import words
from workflow_scripts.embed.readers import DataSet
from workflow_scripts.evaluate.bootstrap import resampled

_DECIMALS = 6
Similarities = Sequence[NDArray[np.float64]]


def correlations(gold: Sequence[float], found: Sequence[float]) -> dict[str, float]:
    """Return Pearson's r and Spearman's rho; 0 where one side does not vary."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.ConstantInputWarning)
        values = {
            "pearson": stats.pearsonr(gold, found).statistic if len(gold) > 1 else 0.0,
            "spearman": stats.spearmanr(gold, found).statistic if len(gold) > 1 else 0.0,
        }
    return {name: _rounded(value) for name, value in values.items()}


def _rounded(value: float) -> float:
    return round(float(value), _DECIMALS) if np.isfinite(value) else 0.0


def result(data_sets: Sequence[DataSet], similarities: Similarities) -> dict[str, Any]:
    """Return the correlations of each data set, and over them.

    Returns:
        By data set `n`, `pearson` and `spearman`; `mean` of the data sets, with those of each
        group in `by_group`; `weighted`, the mean weighted by size; `all`, of all pairs as if they
        were one data set.
    """
    single = {
        each.name: {"n": len(each.scores), **correlations(each.scores, found)}
        for each, found in zip(data_sets, similarities, strict=True)
    }
    groups: dict[str, list[str]] = {}
    for each in data_sets:
        groups.setdefault(each.group, []).append(each.name)
    everything = [score for each in data_sets for score in each.scores]
    pooled = np.concatenate([*similarities, np.empty(0)])
    return {
        **single,
        "mean": {
            **_mean(list(single.values())),
            "by_group": {
                group: _mean([single[name] for name in names]) for group, names in groups.items()
            },
        },
        "weighted": _mean(list(single.values()), [each["n"] for each in single.values()]),
        "all": {"n": len(everything), **correlations(everything, pooled)},
    }


def _mean(
    rows: Sequence[dict[str, float]], weights: Sequence[float] | None = None
) -> dict[str, float | None]:
    if not rows or (weights is not None and not sum(weights)):
        return {"pearson": None, "spearman": None}
    return {
        name: _rounded(np.average([row[name] for row in rows], weights=weights))
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
    return [np.array([overlap(*pair) for pair in each.pairs]) for each in data_sets]


def gain(
    data_sets: Sequence[DataSet],
    better: Similarities,
    worse: Similarities,
    samples: int,
    seed: int,
) -> dict[str, float] | None:
    """Return by how much the mean Pearson of one method exceeds another's, and where it may lie.

    The interval is a 95 % percentile interval of a paired bootstrap over pairs, within each data
    set.

    Args:
        data_sets: at least one, or there is no result.
        better: the similarities that one method finds.
        worse: those that the other finds.
        samples: bootstrap samples to draw.
        seed: of the draws.
    """
    if not data_sets:
        return None
    differences, drawn = [], []
    for each, one, other in zip(data_sets, better, worse, strict=True):
        columns = _centred(np.column_stack([each.scores, one, other]))
        gold, first, second = columns.T
        sums = np.column_stack(
            [columns, columns**2, gold * first, gold * second]
        )  # three sums, three of squares, two of products
        differences.append(_difference(sums.sum(axis=0)[None], len(sums))[0])
        parts = [_difference(part, len(sums)) for part in resampled(sums, samples, seed)]
        drawn.append(np.concatenate(parts))
    low, high = np.quantile(np.mean(drawn, axis=0), (0.025, 0.975))
    return {
        "pearson": _rounded(float(np.mean(differences))),
        "low": _rounded(low),
        "high": _rounded(high),
    }


def _centred(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    return columns - columns.mean(axis=0)


def _difference(sums: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return Pearson's r of gold and first, less that of gold and second, of each row of sums."""
    means = sums / count
    variances = means[:, 3:6] - means[:, :3] ** 2
    return _pearson(means, variances, 1, 6) - _pearson(means, variances, 2, 7)


def _pearson(
    means: NDArray[np.float64], variances: NDArray[np.float64], column: int, product: int
) -> NDArray[np.float64]:
    covariance = means[:, product] - means[:, 0] * means[:, column]
    scale = np.sqrt(np.clip(variances[:, 0] * variances[:, column], 0.0, None))
    return np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 1e-12)
