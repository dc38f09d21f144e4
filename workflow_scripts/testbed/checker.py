"""Does an English sentence mean what a testbed reference means, and how does it differ in form?"""

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workflow_scripts.testbed.chart_parser import Reading
    from workflow_scripts.testbed.structure import Meaning

# References are compared with many sentences each, one reference after the other.
_CACHE = 1 << 14


class Checker:
    """Answers by parsing both sentences; sentences that were parsed before are remembered."""

    def __init__(self) -> None:
        from workflow_scripts.testbed.chart_parser import (
            readings,  # slow: only where there is a testbed
        )

        self._readings = lru_cache(_CACHE)(readings)

    def parse(self, sentence: str) -> list["Meaning"]:
        """Return every meaning that `sentence` has in the grammar; none outside the grammar."""
        return list(dict.fromkeys(reading.meaning for reading in self._readings(sentence)))

    def same_meaning(self, reference: str, sentence: str) -> bool:
        """Return whether some meaning of `reference` is also a meaning of `sentence`.

        A sentence outside the grammar has no meaning; so the answer is no.
        """
        return bool(self._common(reference, sentence))

    def variations(self, reference: str, sentence: str) -> set[str]:
        """Return the kinds of variation that lead from `reference` to `sentence`.

        If they have several readings, the closest two count. The set is empty for sentences that
        mean different things, and for sentences with the same choices of the grammar.
        """
        differences = [_kinds(one, other) for one, other in self._common(reference, sentence)]
        return min(differences, key=len, default=set())

    def _common(self, reference: str, sentence: str) -> list[tuple["Reading", "Reading"]]:
        return [
            (one, other)
            for one in self._readings(reference)
            for other in self._readings(sentence)
            if one.meaning == other.meaning
        ]


def _kinds(one: "Reading", other: "Reading") -> set[str]:
    first, second = Counter(one.variations), Counter(other.variations)
    return {kind for kind, _ in (first - second) + (second - first)}
