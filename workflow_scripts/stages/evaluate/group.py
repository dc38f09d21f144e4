"""The measures of one group of references, as sums that add up over shards."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.files.rows import ParaphrasesRow
from workflow_scripts.core.statistics.bootstrap import rank_intervals
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.core.text.normalisation import words
from workflow_scripts.stages.evaluate.diversity import (
    ORDERS,
    Comparison,
    mean,
    one_minus_bleu,
    sentence,
)
from workflow_scripts.stages.evaluate.exact_lengths import LENGTHS, ExactLength
from workflow_scripts.stages.evaluate.gain import Gain
from workflow_scripts.stages.evaluate.lengths import ENDS, Ranks, by_length, place
from workflow_scripts.stages.evaluate.quality import Quality
from workflow_scripts.stages.subword.segmenter import Segmenter
from workflow_scripts.testbed.checker import Checker

Number = TypeVar("Number", int, float)


class Group:
    """Running sums of one group of references."""

    def __init__(self, best: int, language: str | None = None):
        """Start without references.

        Args:
            best: how many paraphrases of a reference count.
            language: of the paraphrases (ISO 639); None: no gain is counted, as of variants.
        """
        self.best = best
        self.gain = None if language is None else Gain(language)
        self.lengths = [Ranks(best) for _ in range(len(ENDS) + 1)]
        self.exact = {length: ExactLength(best) for length in LENGTHS}
        self.between = {pair: Comparison() for pair in combinations(range(best), 2)}
        self.copies = [0] * best
        self.scored = [0] * best
        self.nll_sums = [0.0] * best
        self.blocks: dict[int, NDArray[np.int64]] = {}
        self.quality = Quality(best)

    def add(
        self, row: ParaphrasesRow, block: int, segmenter: Segmenter, checker: Checker | None
    ) -> None:
        """Count one row of the `paraphrases` schema.

        Args:
            row: the reference, its id and its paraphrases, of which the first `best` count.
            block: the bootstrap block that the reference belongs to.
            segmenter: of the paraphrase language.
            checker: for a testbed reference, else None.
        """
        reference, listed = row["reference"], row["paraphrases"][: self.best]
        texts = [paraphrase["text"] for paraphrase in listed]
        counted = words(reference)
        alike = self.lengths[place(len(counted))]
        alike.references_by_paraphrases[len(listed)] += 1
        exact = self.exact.get(len(reference.split()))
        if exact is not None:
            exact.ranks.references_by_paraphrases[len(listed)] += 1
        if checker is not None:
            self.quality.add(checker, reference, texts)
        if not listed:
            return
        for rank, paraphrase in enumerate(listed):
            self.copies[rank] += words(paraphrase["text"]) == counted
            # No sum: not scored backward. Infinite: the backward model can't read the text.
            total = paraphrase["sum"]
            if total is not None and math.isfinite(total):
                self.scored[rank] += 1
                self.nll_sums[rank] += total
        first = sentence(reference, segmenter)
        sentences = [sentence(text, segmenter) for text in texts]
        sentences += [sentences[-1]] * (self.best - len(sentences))
        counts = alike.add(first, sentences)
        if self.gain is not None:
            self.gain.add(reference, listed, counts[: len(listed)], block)
        if exact is not None:
            exact.ranks.add(first, sentences)
            exact.draw(row["id"], reference, texts + [texts[-1]] * (self.best - len(texts)))
        for (better, worse), comparison in self.between.items():
            comparison.add(sentences[better], sentences[worse])
        sums = self.blocks.setdefault(block, np.zeros((self.best, 2, ORDERS), dtype=np.int64))
        sums += counts

    def merge(self, other: "Group") -> None:
        """Add the sums of other references."""
        for ranks, others in zip(self.lengths, other.lengths, strict=True):
            ranks.merge(others)
        for length, exact in self.exact.items():
            exact.merge(other.exact[length])
        for pair, comparison in self.between.items():
            comparison.merge(other.between[pair])
        self.copies = _added(self.copies, other.copies)
        self.scored = _added(self.scored, other.scored)
        self.nll_sums = _added(self.nll_sums, other.nll_sums)
        for block, sums in other.blocks.items():
            self.blocks[block] = self.blocks.get(block, 0) + sums
        self.quality.merge(other.quality)
        if self.gain is not None and other.gain is not None:
            self.gain.merge(other.gain)

    def result(self, samples: int, seed: int) -> dict[str, Any]:
        """Return the group's entry in measures.json, with `samples` bootstrap samples."""
        total = Ranks(self.best)
        for sums in self.lengths:
            total.merge(sums)
        measures = total.result()
        by_rank: Sequence[dict[str, float] | None] = [None] * self.best
        difference = None
        if self.blocks:
            blocks = np.stack([self.blocks[block] for block in sorted(self.blocks)])
            by_rank, interval = rank_intervals(blocks, one_minus_bleu, samples, seed)
            last, first = (measures[rank]["one_minus_bleu"] for rank in (-1, 0))
            difference = {"one_minus_bleu": round(last - first, DECIMALS), **interval}
        ranks = [
            {
                **of_rank,
                "copies": self.copies[rank],
                "mean_sum": mean(self.nll_sums[rank], self.scored[rank]),
                "interval": by_rank[rank],
            }
            for rank, of_rank in enumerate(measures)
        ]
        between = [
            {"first": better + 1, "second": worse + 1, **comparison.result()}
            for (better, worse), comparison in self.between.items()
        ]
        return {
            "references": sum(total.references_by_paraphrases),
            "references_by_paraphrases": total.references_by_paraphrases,
            **({"gain": self.gain.result(samples, seed)} if self.gain is not None else {}),
            "ranks": ranks,
            "by_length": by_length(self.lengths),
            "exact_lengths": [exact.result(length) for length, exact in self.exact.items()],
            "difference": difference,
            "between": between,
            "testbed": self.quality.result(),
        }


def _added(some: list[Number], others: list[Number]) -> list[Number]:
    return [one + other for one, other in zip(some, others, strict=True)]
