"""Folds of equal size, by the rank of a number among all numbers of a stream."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.statistics.order_statistics import Passes, order_statistics

# Gives the folds, from 1, of a stream's next numbers.
FoldsOf = Callable[[NDArray[np.float32]], NDArray[np.int64]]


class Folds:
    """Tells in which of `of` folds each number of a stream is: tenths, for instance.

    The least numbers are in fold 1. Equal numbers are ranked as they come, so that the sizes
    differ by one at most.
    """

    def __init__(self, values: Passes, of: int):
        """Find the last number of each fold, exactly and in flat memory.

        Args:
            values: gives a new pass at each call, four times: float32 arrays without NaN.
            of: number of folds.
        """
        total = sum(map(len, values()))
        self._last_ranks = np.array([total * fold // of for fold in range(1, of + 1)])
        # With fewer numbers than folds, the first folds are empty: they end before all numbers.
        ranks = [int(rank) for rank in self._last_ranks if rank]
        empty = [-np.inf] * (of - len(ranks))
        self._last = np.array(empty + order_statistics(values, ranks), np.float32)
        self._cuts = np.unique(self._last[len(empty) :])
        self._below = np.zeros(len(self._cuts), np.int64)
        for chunk in values():
            self._below += np.count_nonzero(chunk < self._cuts[:, None], axis=1)

    def stream(self) -> FoldsOf:
        """Return a function that gives the folds, from 1, of the stream's next numbers."""
        ranks = self._below.copy()  # of the last number seen that equals the cut

        def folds(values: NDArray[np.float32]) -> NDArray[np.int64]:
            numbers = np.searchsorted(self._last, values) + 1
            for index, cut in enumerate(self._cuts):
                equal = np.flatnonzero(values == cut)
                places = ranks[index] + 1 + np.arange(len(equal))
                numbers[equal] = np.searchsorted(self._last_ranks, places) + 1
                ranks[index] += len(equal)
            return numbers

        return folds
