"""Which paraphrases a person sees next, as EASL has it (Sakaguchi and Van Durme, ACL 2018).

Each paraphrase has a Beta distribution of its score, which starts as Beta(1, 1). A score s of 0 to
1 adds s to alpha and 1 - s to beta. All paraphrases are rated once first, then those whose
distribution has the greatest variance.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Open:
    """A paraphrase that a person has not seen, with what others said of it."""

    number: int
    reference: str
    judgments: int
    """By how many people, those among them who have the paraphrase on their page now."""
    points: float = 0.0
    """The sum of their scores, each 0 to 1."""
    scores: int = 0
    """How many gave a score."""

    @property
    def variance(self) -> float:
        """The variance of its Beta distribution."""
        alpha, beta = 1 + self.points, 1 + self.scores - self.points
        return alpha * beta / ((alpha + beta) ** 2 * (alpha + beta + 1))

    def turn(self, wanted: int) -> int:
        """Return whose turn it is: 0 nobody has judged it, 1 fewer than `wanted` did, 2 enough."""
        return 0 if not self.judgments else 1 if self.judgments < wanted else 2


def choose(
    items: Sequence[Open], wanted: int, slots: int, lot: Callable[[Open], float]
) -> list[Open]:
    """Return the paraphrases of a person's next page: some of one reference, or none.

    The page is that of the reference whose paraphrase comes first: by its turn, then by its
    variance, then by lot. Its others stand beside it if it is their turn too. More than `slots`
    are spread evenly over pages, so that none has a paraphrase alone without need.

    Args:
        items: what this person has not seen.
        wanted: people who shall judge each paraphrase.
        slots: paraphrases on a page at most.
        lot: of a paraphrase for this person, in [0, 1).
    """
    if not items:
        return []

    def place(item: Open) -> tuple[int, float, float, int]:
        return (item.turn(wanted), -item.variance, lot(item), item.number)

    first = min(items, key=place)
    beside = [
        item
        for item in items
        if item.reference == first.reference and item.turn(wanted) == first.turn(wanted)
    ]
    pages = math.ceil(len(beside) / slots)
    return sorted(beside, key=place)[: math.ceil(len(beside) / pages)]
