"""Pairs of a reference and a paraphrase, with what is known of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Pairs:
    """Pairs of a reference and a paraphrase; a column is None where nobody knows it.

    NLLs are in nats, of the end of the sentence too; those of shape (pairs,) have NaN where the
    number is unknown. Those called `nll` are per target token, as the stage `score` writes them.
    """

    references: Sequence[str]
    paraphrases: Sequence[str]
    sources: Sequence[str] | None = None
    forward_nll: Numbers | None = None
    """Of the paraphrase, given the source."""
    backward_nll: Numbers | None = None
    """Of the source, given the paraphrase."""
    reference_forward_nll: Numbers | None = None
    """Of the human reference, given the same source (unit `score/references`)."""
    reference_backward_nll: Numbers | None = None
    """Of the source, given the human reference."""
    forward_total: Numbers | None = None
    """The sum of the NLLs of the paraphrase's tokens, by forced decoding."""
    forward_worst: Numbers | None = None
    """The greatest NLL of one token of the paraphrase, by forced decoding."""
    lost: Numbers | None = None
    """Nats that the source is less probable given the paraphrase than given the reference."""
    divergence: Numbers | None = None
    """How far the backward model's distributions are apart, in nats (`nmt.divergence`)."""

    def __post_init__(self) -> None:
        """Refuse columns of different lengths."""
        for column in self.columns():
            if len(getattr(self, column)) != len(self.references):
                raise ValueError(
                    f"{column}: {len(getattr(self, column))} values for "
                    f"{len(self.references)} references"
                )

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.references)

    def columns(self) -> list[str]:
        """Return the names of the columns that are not None."""
        return [field.name for field in fields(self) if getattr(self, field.name) is not None]

    def take(self, rows: Sequence[int] | NDArray[np.intp]) -> Self:
        """Return the pairs at these places, in this order."""
        taken: dict[str, Any] = {}
        for column in self.columns():
            values = getattr(self, column)
            taken[column] = (
                values[np.asarray(rows, np.intp)]
                if isinstance(values, np.ndarray)
                else [values[row] for row in rows]
            )
        return replace(self, **taken)


def numbers_of(pairs: Pairs, function: Callable[[str, str], float]) -> Numbers:
    """Return a number of the two texts of each pair, shape (pairs,)."""
    both = zip(pairs.references, pairs.paraphrases, strict=True)
    return np.fromiter((function(*texts) for texts in both), np.float64, len(pairs))
