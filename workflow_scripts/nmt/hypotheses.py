"""The hypotheses of beam search, and their possible next steps, as tensors.

Letters of shapes: S sentences, W beam size, N hypotheses in the decoder, C candidates of each.
"""

from dataclasses import dataclass, fields
from typing import Self

import torch
from torch import Tensor

from workflow_scripts.nmt.tensor_table import Columns
from workflow_scripts.nmt.vocabulary import PAD


@dataclass
class Beams(Columns):
    """The beams of all sentences that are being translated; `output`: [S, W, longest output + 1].

    Per sentence [S]: `job`, its number; `limit`, the most tokens; `index`, its request in the
    tables of constraints. Per hypothesis [S, W]: `score` (fp64), infinite where there is no
    hypothesis; `length`; `ended`; `negative` and `positive`, states of the automata; `met`, bits of
    the positive constraints; `last_score` and `last_met`, those of the last beam that had any
    hypotheses.
    """

    job: Tensor
    limit: Tensor
    index: Tensor
    score: Tensor
    length: Tensor
    ended: Tensor
    negative: Tensor
    positive: Tensor
    met: Tensor
    last_score: Tensor
    last_met: Tensor

    @classmethod
    def empty(
        cls, jobs: list[int], limits: list[int], beam_size: int, device: torch.device
    ) -> Self:
        """Return beams of one empty hypothesis each; their constraints have still to be set."""
        shape = (len(jobs), beam_size)
        zeros = torch.zeros(shape, dtype=torch.int64, device=device)
        score = torch.full(shape, torch.inf, dtype=torch.float64, device=device)
        score[:, 0] = 0
        job, limit = (
            torch.tensor(values, dtype=torch.int64).to(device, non_blocking=True)
            for values in (jobs, limits)
        )
        return cls(
            job=job,
            limit=limit,
            index=zeros[:, 0],
            score=score,
            length=zeros,
            ended=zeros.bool(),
            negative=zeros,
            positive=zeros,
            met=zeros,
            last_score=score,
            last_met=zeros,
            output=zeros.new_full((*shape, max(limits, default=0) + 1), PAD),
        )

    def open(self) -> Tensor:
        """Return which hypotheses [S, W] go on."""
        return ~self.ended & self.score.isfinite()

    def staying(self, size: Tensor) -> "Continuations":
        """Return every hypothesis [S, W] unchanged; it is a candidate only if it has ended.

        `size` [S] is the last bank of a sentence. A hypothesis that has ended is in this bank, as
        it has met all constraints.
        """
        return Continuations(
            total=self.score.where(self.ended, torch.inf),
            bank=size[:, None].expand_as(self.met),
            token=torch.full_like(self.met, PAD),
            positive=self.positive,
            met=self.met,
        )


@dataclass
class Continuations:
    """The possible next steps of hypotheses: tensors [hypotheses, C].

    `total`: the summed NLL, infinite where there is no candidate; `bank`: constraint pieces
    written; `token`: the last one; `positive`, `met`: as in the beams.
    """

    total: Tensor
    bank: Tensor
    token: Tensor
    positive: Tensor
    met: Tensor

    def spread(self, rows: Tensor, staying: Self) -> Self:
        """Return the candidates [S * W, C + 1] of all hypotheses, given those of some [N, C].

        Args:
            rows: [N], the hypotheses of these candidates, by their numbers among all hypotheses.
            staying: [S, W], the last candidate of every hypothesis.
        """
        names = [field.name for field in fields(self)]
        pairs = ((getattr(self, name), getattr(staying, name)) for name in names)
        return type(self)(*(_spread(extended, rows, one.flatten()) for extended, one in pairs))


def _spread(extended: Tensor, rows: Tensor, last: Tensor) -> Tensor:
    """Put `extended` [N, C] into `rows` of a tensor [all rows, C + 1]; its last column is `last`.

    All other entries are infinite, or 0 in a tensor of integers.
    """
    fill = torch.inf if extended.is_floating_point() else 0
    full = extended.new_full((len(last), extended.shape[1] + 1), fill)
    full[rows, :-1] = extended
    full[:, -1] = last
    return full
