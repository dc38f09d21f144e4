"""Spearman's rank correlation."""

import numpy as np
from numpy.typing import NDArray


def spearman(first: NDArray[np.float64], second: NDArray[np.float64]) -> float | None:
    """Return Spearman's rank correlation over the places where both numbers are known.

    Equal numbers share the mean of their ranks. None if all numbers of a side are the same.
    """
    known = ~(np.isnan(first) | np.isnan(second))
    ranks = np.stack([_ranks(first[known]), _ranks(second[known])])
    if known.sum() < 2 or (ranks.std(axis=1) == 0).any():
        return None
    return float(np.corrcoef(ranks)[0, 1])


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (counts.cumsum() - (counts - 1) / 2)[places]
