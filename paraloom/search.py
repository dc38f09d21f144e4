"""How a paraphraser searches."""

from dataclasses import dataclass, fields

from paraloom.requests import MOST_COUNTED, ArgumentError, require_count


@dataclass(frozen=True)
class Search:
    """How a paraphraser searches. More finds more, and takes longer.

    Attributes:
        sources: how many sources are written of a text that comes without one.
        source_beam: hypotheses of the beam search that writes them; at least `sources`.
        sampled: whether they are drawn at random instead, by the paraphraser's seed.
        beam: hypotheses of the beam search back from each source.
        batch_rows: hypotheses at work at once. It changes memory and speed, and no answer but for
            the rounding of floating-point numbers.
    """

    sources: int = 3
    source_beam: int = 8
    sampled: bool = False
    beam: int = 12
    batch_rows: int = 288

    def __post_init__(self) -> None:
        """Refuse what can't be.

        Raises:
            ArgumentError: a number is below 1, or above 1,000 (but `batch_rows`), or the beam too
                small for the sources.
        """
        for field in fields(self):
            if field.type is int:
                most = None if field.name == "batch_rows" else MOST_COUNTED
                number = require_count(field.name, getattr(self, field.name), most)
                object.__setattr__(self, field.name, number)
        if not isinstance(self.sampled, bool):
            raise ArgumentError(f"sampled is {self.sampled!r:.40}, and must be True or False")
        if not self.sampled and self.sources > self.source_beam:
            raise ArgumentError(
                f"sources is {self.sources}, but source_beam holds {self.source_beam} of them; "
                "make the beam larger, or ask for fewer"
            )

    @property
    def batch(self) -> int:
        """How many texts are worked on together; it does not depend on threads."""
        return max(1, self.batch_rows // max(self.source_beam, self.sources * self.beam))
