"""Which tokens a sample may be drawn from at one step: the distribution without its tail.

Top-k: Fan et al. (2018), as in ParaBank 2, 2.1; top-p, or nucleus: Holtzman et al. (2020);
min-p: Nguyen et al. (2024); epsilon: Hewitt et al. (2022).
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from workflow_scripts.core.errors import InputError


@dataclass(frozen=True)
class Truncation:
    """What a token must fulfil to be drawn; at least one of the four is given.

    They are applied one after another, in the order of the fields and as in Hugging Face's
    `generate`: each sees the probabilities of what the ones before it left, renormalised. They are
    those at the temperature, over the tokens that complete no forbidden phrase. The most probable
    token is always kept.

    `k`: the k most probable tokens; `top_p`: the fewest most probable tokens that have at least
    this probability together; `min_p`: tokens that have at least this share of the probability of
    the most probable one; `epsilon`: tokens that have at least this probability.

    Raises:
        InputError: none is given, or one is out of its range.
    """

    k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    epsilon: float | None = None

    def __post_init__(self) -> None:
        if self.k is not None and self.k < 1:
            raise InputError("k must be above zero")
        shares = {"top_p": self.top_p, "min_p": self.min_p, "epsilon": self.epsilon}
        for name, value in shares.items():
            if value is not None and not 0 < value < 1:
                raise InputError(f"{name} must be above 0 and below 1")
        if self.k is None and not any(shares.values()):
            raise InputError("sampling needs one of k, top_p, min_p and epsilon")

    @property
    def needs_total(self) -> bool:
        """Whether what is kept depends on the probabilities, not on their ratios alone."""
        return self.top_p is not None or self.epsilon is not None

    def kept(self, scores: Tensor, total: Tensor) -> tuple[Tensor, Tensor]:
        """Return which tokens [N, C] may be drawn, and in which rows [N] that is certain.

        Args:
            scores: [N, C] log-probabilities at the temperature up to a constant of each row, best
                first; minus infinity for tokens that complete a forbidden phrase. They are all
                tokens, or the best ones.
            total: [N], log sum exp of all tokens of the row, also of those that are not in
                `scores`; without meaning if there is a `k`, or no need for it.

        Returns:
            A row is not certain if tokens that are not in `scores` might be kept as well.
        """
        mask = scores.isfinite()
        if self.k is not None:
            mask = mask & (mask.cumsum(dim=1) <= self.k)
            total = _total(scores, mask)
        best = scores.amax(dim=1, keepdim=True)
        if self.top_p is not None:
            shares = (scores - total[:, None]).exp() * mask
            before = F.pad(shares.cumsum(dim=1), (1, -1))
            mask = mask & (before < self.top_p)
        if self.min_p is not None:
            mask = mask & (scores >= best + math.log(self.min_p))
        # The tokens are sorted: if the last one is out, so are all that follow.
        certain = ~mask[:, -1]
        if self.epsilon is not None:
            if self.top_p is not None or self.min_p is not None:
                total = _total(scores, mask)
            large = scores - total[:, None] >= math.log(self.epsilon)
            mask = mask & (large | (scores == best))
            if self.top_p is None and self.min_p is None:
                certain = ~mask[:, -1]
        return mask, certain


def _total(scores: Tensor, mask: Tensor) -> Tensor:
    """Return log sum exp of the scores [N, C] that are kept."""
    return torch.where(mask, scores, -torch.inf).logsumexp(dim=1)
