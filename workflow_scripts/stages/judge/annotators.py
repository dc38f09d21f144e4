"""Which annotators count: those who rated enough and passed their controls (ParaBank, 5.3)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from workflow_scripts.stages.judge.rating_file import PERFECT, Rating

# ParaBank's, and ParaBank 2's (3.5).
MIN_JUDGMENTS = 25
MAX_FAILED_CONTROLS = 0.1


@dataclass
class Annotator:
    """What one person did."""

    judgments: int = 0
    """All, controls among them."""
    controls: int = 0
    failed: int = 0
    """Controls with a score below 100; one without a score says only that it is nonsense."""

    def add(self, rating: Rating) -> None:
        """Count a rating."""
        self.judgments += 1
        if rating.control:
            self.controls += 1
            self.failed += rating.score is not None and rating.score < PERFECT

    def fault(self, min_judgments: int, max_failed: float) -> str | None:
        """Return why this person's ratings don't count; None if they do.

        Args:
            min_judgments: that the person must have given.
            max_failed: the share of the controls that may fail.
        """
        if self.judgments < min_judgments:
            return f"{self.judgments} of at least {min_judgments} judgments"
        # 0.1 as a decimal number: 7 of 70 are no more than a tenth.
        if self.failed > Fraction(str(max_failed)) * self.controls:
            return f"failed {self.failed} of {self.controls} controls"
        return None


def annotators(ratings: Sequence[Rating]) -> dict[str, Annotator]:
    """Return what each person did, by name, in the order of the ratings."""
    people: dict[str, Annotator] = defaultdict(Annotator)
    for rating in ratings:
        people[rating.annotator].add(rating)
    return dict(people)


def left_out(
    ratings: Sequence[Rating],
    min_judgments: int = MIN_JUDGMENTS,
    max_failed: float = MAX_FAILED_CONTROLS,
) -> dict[str, str]:
    """Return the people whose ratings don't count, with the reason of each."""
    people = annotators(ratings)
    faults = {name: person.fault(min_judgments, max_failed) for name, person in people.items()}
    return {name: fault for name, fault in faults.items() if fault is not None}
