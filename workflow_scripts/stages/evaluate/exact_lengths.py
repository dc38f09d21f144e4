"""The measures of references of exactly 5, 10, 20 and 40 tokens (ParaBank, 5.3 and Table 4).

A token is what stands between blanks.
"""

import heapq
from typing import Any, NamedTuple

from workflow_scripts.core.seeding import fraction
from workflow_scripts.stages.evaluate.lengths import Ranks
from workflow_scripts.stages.evaluate.modified_bleu import modified_bleu

LENGTHS = (5, 10, 20, 40)
# Pairs of a length that the modified BLEU is of, at most: as many as in the paper.
PAIRS = 100


class Drawn(NamedTuple):
    """A reference with the paraphrase of each rank; `number` orders the draw."""

    number: float
    reference: str
    paraphrases: list[str]


class ExactLength:
    """Running sums by rank of the references of one length."""

    def __init__(self, best: int):
        self.ranks = Ranks(best)
        self._drawn: list[Drawn] = []

    def draw(self, identifier: str, reference: str, paraphrases: list[str]) -> None:
        """Take a reference into the sample, whose members are those of the least numbers.

        Args:
            identifier: of the reference; it alone says which are drawn, in every run.
            reference: the text.
            paraphrases: that of each rank.
        """
        number = fraction(0, "exact lengths", identifier)
        if len(self._drawn) < PAIRS or number <= self._drawn[-1].number:
            drawn = [*self._drawn, Drawn(number, reference, paraphrases)]
            self._drawn = heapq.nsmallest(PAIRS, drawn)

    def merge(self, other: "ExactLength") -> None:
        """Add the sums of other references."""
        self.ranks.merge(other.ranks)
        self._drawn = heapq.nsmallest(PAIRS, [*self._drawn, *other._drawn])

    def result(self, length: int) -> dict[str, Any]:
        """Return the entry of a length in measures.json."""
        return {
            "length": length,
            "references": sum(self.ranks.references_by_paraphrases),
            "references_by_paraphrases": self.ranks.references_by_paraphrases,
            "drawn": len(self._drawn),
            "ranks": [
                {**measures, "modified_bleu": self._modified_bleu(rank)}
                for rank, measures in enumerate(self.ranks.result())
            ],
        }

    def _modified_bleu(self, rank: int) -> float | None:
        return modified_bleu([(pair.reference, pair.paraphrases[rank]) for pair in self._drawn])
