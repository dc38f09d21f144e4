"""The measures by the length of the reference (ParaBank, Hu et al., AAAI 2019, Table 4).

Lengths are those of the papers' words, up to and including 5, 10, 20 and 40; what is longer has a
range of its own, so that every reference is in one.
"""

from bisect import bisect_left
from itertools import accumulate
from typing import Any

from workflow_scripts.evaluate.diversity import Comparison, Sentence

ENDS = (5, 10, 20, 40)


def place(length: int) -> int:
    """Return which range of lengths a reference of so many words belongs to."""
    return bisect_left(ENDS, length)


class Ranks:
    """Running sums by rank of some references: of one range of lengths, or of all."""

    def __init__(self, best: int):
        self.references_by_paraphrases = [0] * (best + 1)
        self.comparisons = [Comparison() for _ in range(best)]

    def add(self, reference: Sentence, paraphrases: list[Sentence]) -> list[Any]:
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
        """Return the measures of each rank, with how many are listed and how many repeated."""
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
    """Return the part of measures.json that tells the ranges of lengths apart.

    Args:
        ranges: the sums of each, in the order of `place`.
    """
    starts = [0, *(end + 1 for end in ENDS)]
    return [
        {
            "from": start,
            "to": end,
            "references": sum(each.references_by_paraphrases),
            "references_by_paraphrases": each.references_by_paraphrases,
            "ranks": each.result(),
        }
        for start, end, each in zip(starts, [*ENDS, None], ranges, strict=True)
    ]
