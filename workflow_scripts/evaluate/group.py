"""The measures of one group of references, as sums that add up over shards."""

import math
from itertools import accumulate, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.text import words
from workflow_scripts.evaluate.bootstrap import rank_intervals
from workflow_scripts.evaluate.diversity import DECIMALS, ORDERS, Comparison, mean, sentence
from workflow_scripts.evaluate.quality import Quality
from workflow_scripts.subword.segmenter import Segmenter
from workflow_scripts.testbed.checker import Checker


class Group:
    """Running sums of one group of references."""

    def __init__(self, best: int):
        self.best = best
        self.references_by_paraphrases = [0] * (best + 1)
        self.ranks = [Comparison() for _ in range(best)]
        self.between = {pair: Comparison() for pair in combinations(range(best), 2)}
        self.copies = [0] * best
        self.scored = [0] * best
        self.nll_sums = [0.0] * best
        self.blocks: dict[int, NDArray[np.int64]] = {}
        self.quality = Quality(best)

    def add(
        self, row: dict[str, Any], block: int, segmenter: Segmenter, checker: Checker | None
    ) -> None:
        """Count one row of the `paraphrases` schema.

        Args:
            row: reference and paraphrases; more than `best` are cut off.
            block: the bootstrap block that the reference belongs to.
            segmenter: the paraphrase language's pieces.
            checker: of a testbed reference, else None.
        """
        reference, listed = row["reference"], row["paraphrases"][: self.best]
        texts = [paraphrase["text"] for paraphrase in listed]
        self.references_by_paraphrases[len(listed)] += 1
        if checker is not None:
            self.quality.add(checker, reference, texts)
        if not listed:
            return
        for rank, paraphrase in enumerate(listed):
            self.copies[rank] += words(paraphrase["text"]) == words(reference)
            # No sum: not scored backward. Infinite: the backward model can't read the text.
            if paraphrase["sum"] is not None and math.isfinite(paraphrase["sum"]):
                self.scored[rank] += 1
                self.nll_sums[rank] += paraphrase["sum"]
        first = sentence(reference, segmenter)
        sentences = [sentence(text, segmenter) for text in texts]
        sentences += [sentences[-1]] * (self.best - len(sentences))
        counts = [
            comparison.add(first, second)
            for comparison, second in zip(self.ranks, sentences, strict=True)
        ]
        for (better, worse), comparison in self.between.items():
            comparison.add(sentences[better], sentences[worse])
        sums = self.blocks.setdefault(block, np.zeros((self.best, 2, ORDERS), dtype=np.int64))
        sums += counts

    def merge(self, other: "Group") -> None:
        """Add the sums of another part of the corpus."""
        self.references_by_paraphrases = _added(
            self.references_by_paraphrases, other.references_by_paraphrases
        )
        for comparison, others in zip(self.ranks, other.ranks, strict=True):
            comparison.merge(others)
        for pair, comparison in self.between.items():
            comparison.merge(other.between[pair])
        self.copies = _added(self.copies, other.copies)
        self.scored = _added(self.scored, other.scored)
        self.nll_sums = _added(self.nll_sums, other.nll_sums)
        for block, sums in other.blocks.items():
            self.blocks[block] = self.blocks.get(block, 0) + sums
        self.quality.merge(other.quality)

    def result(self, samples: int, seed: int) -> dict[str, Any]:
        """Return the group's part of measures.json, with `samples` bootstrap samples."""
        by_rank: list[dict[str, float] | None] = [None] * self.best
        difference = None
        if self.blocks:
            blocks = np.stack([self.blocks[block] for block in sorted(self.blocks)])
            by_rank, interval = rank_intervals(blocks, samples, seed)
            last, first = (self.ranks[rank].result()["one_minus_bleu"] for rank in (-1, 0))
            difference = {"one_minus_bleu": round(last - first, DECIMALS), **interval}
        # Listed at rank r: references with at least r paraphrases.
        listed = list(accumulate(reversed(self.references_by_paraphrases[1:])))[::-1]
        ranks = [
            {
                "rank": rank + 1,
                "listed": listed[rank],
                "repeated": listed[0] - listed[rank],
                "copies": self.copies[rank],
                "mean_sum": mean(self.nll_sums[rank], self.scored[rank]),
                "interval": by_rank[rank],
                **comparison.result(),
            }
            for rank, comparison in enumerate(self.ranks)
        ]
        between = [
            {"first": better + 1, "second": worse + 1, **comparison.result()}
            for (better, worse), comparison in self.between.items()
        ]
        return {
            "references": sum(self.references_by_paraphrases),
            "references_by_paraphrases": self.references_by_paraphrases,
            "ranks": ranks,
            "difference": difference,
            "between": between,
            "testbed": self.quality.result(),
        }


def _added(some: list, others: list) -> list:
    return [one + other for one, other in zip(some, others, strict=True)]
