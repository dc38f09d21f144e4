"""The measures by the length of the reference (ParaBank, Hu et al., AAAI 2019, Table 4).

A length is a number of the papers' words. The ranges end with 5, 10, 20 and 40; one more range has
all longer references.
"""

from bisect import bisect_left
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.stages.evaluate.diversity import Comparison, Sentence

ENDS = (5, 10, 20, 40)


def place(length: int) -> int:
    """Return the number of the range that holds references of so many words."""
    return bisect_left(ENDS, length)


class Ranks:
    """Running sums by rank of some references: of one range of lengths, or of all."""

    def __init__(self, best: int):
        self.references_by_paraphrases = [0] * (best + 1)
        self.comparisons = [Comparison() for _ in range(best)]

    def add(self, reference: Sentence, paraphrases: list[Sentence]) -> list[NDArray[np.int64]]:
        """Compare one reference with the paraphrase of each rank; return their `bleu_counts`."""
        return [
            comparison.add(reference, paraphrase)
            for comparison, paraphrase in zip(self.comparisons, paraphrases, strict=True)
        ]

    def merge(self, other: "Ranks") -> None:
        """Add the sums of other references."""
        self.references_by_paraphrases = [
            one + more
            for one, more in zip(
                self.references_by_paraphrases, other.references_by_paraphrases, strict=True
            )
        ]
        for comparison, others in zip(self.comparisons, other.comparisons, strict=True):
            comparison.merge(others)

    def result(self) -> list[dict[str, Any]]:
        """Return the measures of each rank, and how many paraphrases are listed and repeated."""
        # Listed at rank r: references with at least r paraphrases.
        listed = list(accumulate(reversed(self.references_by_paraphrases[1:])))[::-1]
        return [
            {
                "rank": rank + 1,
                "listed": listed[rank],
                "repeated": listed[0] - listed[rank],
                **comparison.result(),
            }
            for rank, comparison in enumerate(self.comparisons)
        ]


def by_length(ranges: list[Ranks]) -> list[dict[str, Any]]:
    """Return `by_length` in measures.json: the measures of each range of lengths.

    Args:
        ranges: the sums of each, in the order of `place`.
    """
    starts = [0, *(end + 1 for end in ENDS)]
    return [
        {
            "from": start,
            "to": end,
            "references": sum(sums.references_by_paraphrases),
            "references_by_paraphrases": sums.references_by_paraphrases,
            "ranks": sums.result(),
        }
        for start, end, sums in zip(starts, [*ENDS, None], ranges, strict=True)
    ]
