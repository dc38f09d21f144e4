"""How many paraphrases of testbed references mean the same: there the meanings are known."""

from collections import Counter
from typing import Any

from workflow_scripts.core.text.normalisation import words
from workflow_scripts.stages.evaluate.diversity import mean
from workflow_scripts.testbed.checker import Checker


class Quality:
    """Running counts over testbed references.

    A paraphrase is exact if it means exactly what its reference means; a copy of the reference is
    exact too. Distinct correct paraphrases are exact, and differ from the reference and from each
    other in their words: they are what the corpus adds.
    """

    def __init__(self, best: int):
        self.listed = [0] * best
        self.exact = [0] * best
        self.references_by_distinct = [0] * (best + 1)
        self.variations: Counter[str] = Counter()

    def add(self, checker: Checker, reference: str, paraphrases: list[str]) -> None:
        """Count one reference and its paraphrases, rank by rank."""
        distinct = set()
        for rank, paraphrase in enumerate(paraphrases):
            self.listed[rank] += 1
            if not checker.same_meaning(reference, paraphrase):
                continue
            self.exact[rank] += 1
            key = tuple(words(paraphrase))
            if key not in distinct and key != tuple(words(reference)):
                distinct.add(key)
                self.variations.update(checker.variations(reference, paraphrase))
        self.references_by_distinct[len(distinct)] += 1

    def merge(self, other: "Quality") -> None:
        """Add the counts of other references."""
        for name in ("listed", "exact", "references_by_distinct"):
            both = zip(getattr(self, name), getattr(other, name), strict=True)
            setattr(self, name, [one + two for one, two in both])
        self.variations += other.variations

    def result(self) -> dict[str, Any] | None:
        """Return the counts and shares; None without testbed references.

        A reference without any paraphrase counts: it has no distinct correct one.
        """
        references = sum(self.references_by_distinct)
        if not references:
            return None
        ranks = [
            {"rank": rank, "listed": listed, "exact": exact, "share": mean(100.0 * exact, listed)}
            for rank, (listed, exact) in enumerate(zip(self.listed, self.exact, strict=True), 1)
        ]
        distinct = sum(count * number for number, count in enumerate(self.references_by_distinct))
        return {
            "references": references,
            "ranks": ranks,
            "distinct_correct": mean(distinct, references),
            "references_by_distinct_correct": self.references_by_distinct,
            "variations": dict(self.variations),
        }
