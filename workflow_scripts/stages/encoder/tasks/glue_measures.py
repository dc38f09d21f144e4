"""Measures of tasks on pairs of sentences, as GLUE has them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.statistics.rank_correlation import spearman

Numbers = NDArray[np.float64]


def accuracy(gold: Numbers, predicted: Numbers) -> float:
    """Return the share of examples whose class is found."""
    return float((gold == predicted).mean())


def f1(gold: Numbers, predicted: Numbers) -> float:
    """Return the F1 of the class 1, paraphrases; 0 where no example has it, nor is given it."""
    both = float(((gold == 1) & (predicted == 1)).sum())
    either = float((gold == 1).sum() + (predicted == 1).sum())
    return 2 * both / either if either else 0.0


def pearson(gold: Numbers, predicted: Numbers) -> float:
    """Return Pearson's r; 0 where one side does not vary."""
    if min(np.ptp(gold), np.ptp(predicted)) == 0:
        return 0.0
    return float(np.corrcoef(gold, predicted)[0, 1])


def rank_correlation(gold: Numbers, predicted: Numbers) -> float:
    """Return Spearman's rho; 0 where one side does not vary."""
    return spearman(gold, predicted) or 0.0


MEASURES: dict[str, Callable[[Numbers, Numbers], float]] = {
    "accuracy": accuracy,
    "f1": f1,
    "pearson": pearson,
    "spearman": rank_correlation,
}


def measured(rows: dict[str, Any], names: tuple[str, ...]) -> dict[str, float]:
    """Return measures of examples.

    Args:
        rows: `gold` and `predicted`, shape (examples,) each.
        names: of `MEASURES`.
    """
    gold, predicted = (np.asarray(rows[name], np.float64) for name in ("gold", "predicted"))
    return {name: MEASURES[name](gold, predicted) for name in names}
