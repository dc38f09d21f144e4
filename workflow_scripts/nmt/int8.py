"""Linear layers in whole numbers of 8 bits, on CPUs: weights per channel, inputs per row.

A product of whole numbers is exact. So an output depends on its own row alone, whatever other rows
are computed with it. Letters of shapes as in `blocks`.
"""

from dataclasses import dataclass, field
from functools import cache
from typing import Self

import torch
from torch import Tensor

from workflow_scripts.nmt.linear import ACTIVATIONS, ROW_BLOCK, Columns, Linear, Rows

# The largest number of a row or a channel becomes this one.
LARGEST = 127
# Without VNNI oneDNN adds two products in 16 bits, which overflow if inputs are larger than this.
# Weights keep their 8 bits: a student's are exact in these.
LARGEST_WITHOUT_VNNI = 63
# So near to a whole number, as a part of it, is what fp32 makes of one. Only 0 is near to 0.
_WHOLE = 1e-5
# Rows of a weight that are rounded in one go: a large one would need several times its memory.
_ROWS = 1024
# In place of a scale of 0, of a row of zeros.
_TINY = 1e-30


def can_compute() -> bool:
    """Return whether this build of torch computes such products."""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.onednn, "qlinear_pointwise")


@cache
def largest_input() -> int:
    """Return which whole number the largest input of a row becomes.

    A product of the largest numbers tells. What torch says of the CPU is not enough, since the
    environment can keep oneDNN from instructions (ONEDNN_MAX_CPU_ISA).
    """
    largest = torch.full((ROW_BLOCK, ROW_BLOCK), float(LARGEST))
    weight, scale = largest.to(torch.int8), torch.ones(ROW_BLOCK)
    exact = torch.equal(_product(largest, _packed(weight), scale, LARGEST), largest @ largest)
    return LARGEST if exact else LARGEST_WITHOUT_VNNI


@dataclass
class Int8Linear(Linear):
    """The layer x -> x W^T + b with both factors in 8 bits.

    `weight`: packed by oneDNN; `scale`: [out], what its whole numbers are multiplied by, in fp32 as
    is `bias`.
    """

    scale: Tensor = field(kw_only=True)

    @classmethod
    def of(cls, layer: Linear) -> Self:
        """Return the layer that is nearest to a plain one."""
        # oneDNN packs what is in memory, whatever the strides say.
        weight = layer.weight.float().contiguous()
        scale = _old_scale(weight)
        if scale is None:
            scale = torch.cat([_scale(rows, LARGEST) for rows in weight.split(_ROWS)])
        numbers = torch.empty(weight.shape, dtype=torch.int8)
        parts = zip(*(each.split(_ROWS) for each in (numbers, weight, scale)), strict=True)
        for rounded, rows, steps in parts:
            rounded.copy_((rows / steps).round_())
        bias = None if layer.bias is None else layer.bias.float()
        return cls(_packed(numbers), bias, scale=scale[:, 0])

    @property
    def columns(self) -> int:
        """How many numbers an output has."""
        return len(self.scale)

    def plain(self) -> Tensor:
        """Return the weight [out, in] in fp32, as it is after rounding."""
        return self.weight.to_dense().t() * self.scale[:, None]

    def __call__(self, x: Tensor) -> Tensor:
        """Return the output [..., out] for `x` [..., in]."""
        product, scale = self._product(x)
        return self._finished(product, scale)

    def activated(self, x: Tensor, activation: str) -> Tensor:
        """Return the output [..., out] for `x` [..., in] after one of ACTIVATIONS."""
        return ACTIVATIONS[activation].function(self(x))

    def added(self, x: Tensor, to: Tensor) -> Tensor:
        """Return the output for `x` [..., in], added to `to` [..., out]."""
        product, scale = self._product(x)
        total = torch.addcmul(to, product, scale)
        return total if self.bias is None else total.add_(self.bias)

    def in_parts(self, x: Tensor) -> Rows:
        """See `Linear`."""
        product, scale = self._product(x)
        return lambda rows: self._finished(product[rows], scale[rows])

    def in_columns(self) -> Columns:
        """See `Linear`; the columns keep their numbers and scales, whatever others are chosen."""
        numbers, bias, scale = self.weight.to_dense().t().contiguous(), self.bias, self.scale
        assert bias is not None
        return lambda chosen: Int8Linear(
            _packed(numbers[chosen]), bias[chosen], scale=scale[chosen]
        )

    def _product(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the output [..., out] without the scale of each row [..., 1], and this scale."""
        largest = largest_input()
        scale = _scale(x, largest)
        return _product(x / scale, self.weight, self.scale, largest), scale

    def _finished(self, product: Tensor, scale: Tensor) -> Tensor:
        return product * scale if self.bias is None else torch.addcmul(self.bias, product, scale)


def _scale(x: Tensor, largest: int) -> Tensor:
    """Return scales [N, 1] at which the largest magnitude of each row [N, D] becomes `largest`."""
    return x.abs().amax(dim=-1, keepdim=True).div_(largest).clamp_(min=_TINY)


def _packed(numbers: Tensor) -> Tensor:
    """Return whole numbers [out, in] as oneDNN packs them."""
    return torch.ops.onednn.qlinear_prepack(numbers, [ROW_BLOCK, numbers.shape[1]])


def _product(x: Tensor, packed: Tensor, scale: Tensor, largest: int) -> Tensor:
    """Return the product [..., out] of `x` [..., in], rounded, and a packed weight at its scale.

    `largest`: the largest magnitude in `x`.
    """
    # oneDNN is many times as fast with unsigned inputs as with signed ones: 0 is this number.
    zero = largest + 1
    unsigned = x.round_().to(torch.int8).view(torch.uint8).add_(zero)
    zeros = torch.zeros_like(scale, dtype=torch.int64)
    return torch.ops.onednn.qlinear_pointwise(
        unsigned,
        1.0,  # its scale
        zero,
        packed,
        scale,
        zeros,
        None,  # no bias
        1.0,  # the scale and the zero of the output, which is no whole number
        0,
        torch.float32,
        "none",  # nothing is applied to the output
        [],
        "",
    )


def _old_scale(weight: Tensor) -> Tensor | None:
    """Return scales [out, 1] at which all of `weight` [out, in] are whole, None if there are none.

    Students of Marian come in 8 bits, with one scale for each matrix; up to three of these may be
    stacked. Rounded once more, to a scale of each channel, they would lose as much again.
    """
    for matrices in range(1, 4):
        parts = weight.chunk(matrices)
        extremes = [torch.stack(part.aminmax()).abs().amax() for part in parts]
        steps = [extreme.div(LARGEST).clamp(min=_TINY) for extreme in extremes]
        pairs = list(zip(parts, steps, strict=True))
        if all(_are_whole(rows / step) for part, step in pairs for rows in part.split(_ROWS)):
            return torch.cat([step.expand(len(part), 1) for part, step in pairs])
    return None


def _are_whole(numbers: Tensor) -> bool:
    return torch.allclose(numbers, numbers.round(), rtol=_WHOLE, atol=0)
