"""Linear layers: the matrix products that take most of the time of every search."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

# oneDNN compiles a product for every new number of rows. This takes half a millisecond and 0.6 MB,
# and some of them are kept (`memory.bound_compiled_products`). So rows are filled up to few
# numbers: multiples of this and, where there are many rows, of a sixteenth of the next power of
# two.
ROW_BLOCK = 16

# Which rows of an output are wanted, and what gives these in fp32.
Rows = Callable[[slice | Tensor], Tensor]
# Which columns of an output are wanted, by their numbers, and what gives the layer of these.
Columns = Callable[[Tensor], "Linear"]


class Activation(NamedTuple):
    """A function between two products; it may overwrite its input.

    `fused`: its name in oneDNN, which applies it together with the product; `function`: torch's;
    `algorithm`: which of several in oneDNN.
    """

    fused: str
    function: Callable[[Tensor], Tensor]
    algorithm: str = ""


# By the names that networks are described with.
ACTIVATIONS = {
    "relu": Activation("relu", torch.relu_),
    "swish": Activation("swish", partial(F.silu, inplace=True)),
    "gelu": Activation("gelu", F.gelu, "none"),
}


@dataclass
class Linear:
    """The layer x -> x W^T + b of `weight` [out, in] and `bias` [out] or None.

    On a CPU `to` packs the weight for oneDNN. Otherwise torch uses MKL, which has AVX-512 for Intel
    only: on AMD the products of oneDNN in fp32 are more than twice as fast. With few rows the
    packing makes them 1.5 to 2 times as fast again.
    """

    weight: Tensor
    bias: Tensor | None = None

    def to(self, device: torch.device, dtype: torch.dtype) -> "Linear":
        """Return the layer of a plain weight on a device in a precision."""
        weight = self.weight.to(device, dtype).contiguous()
        if _can_pack(weight):
            weight = torch.ops.mkldnn._reorder_linear_weight(weight, ROW_BLOCK)
        return Linear(weight, None if self.bias is None else self.bias.to(device, dtype))

    @property
    def columns(self) -> int:
        """How many numbers an output has."""
        return self.weight.shape[0]

    def plain(self) -> Tensor:
        """Return the weight [out, in] as it was before it was packed."""
        return self.weight.to_dense() if self.weight.is_mkldnn else self.weight

    def __call__(self, x: Tensor) -> Tensor:
        """Return the output [..., out] for `x` [..., in]."""
        if self.weight.is_mkldnn:
            return torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, "none", [], "")
        return F.linear(x, self.weight, self.bias)

    def activated(self, x: Tensor, activation: str) -> Tensor:
        """Return the output [..., out] for `x` [..., in] after one of ACTIVATIONS."""
        fused, function, algorithm = ACTIVATIONS[activation]
        if self.weight.is_mkldnn:
            return torch.ops.mkldnn._linear_pointwise(
                x, self.weight, self.bias, fused, [], algorithm
            )
        return function(F.linear(x, self.weight, self.bias))

    def added(self, x: Tensor, to: Tensor) -> Tensor:
        """Return the output for `x` [..., in], added to `to` [..., out]."""
        if self.weight.is_mkldnn:
            return torch.ops.mkldnn._linear_pointwise.binary(x, to, self.weight, self.bias, "add")
        return F.linear(x, self.weight, self.bias).add_(to)

    def in_parts(self, x: Tensor) -> Rows:
        """Return what gives some rows of the output for `x` [N, in] at a time, in fp32.

        So a large output needs no second copy.
        """
        output = self(x)
        return lambda rows: output[rows].float()

    def in_columns(self) -> Columns:
        """Return what gives the layer of some columns of the output, whose bias it needs."""
        weight, bias = self.plain(), self.bias
        assert bias is not None
        return lambda chosen: Linear(weight[chosen], bias[chosen]).to(weight.device, weight.dtype)


def stacked(layers: Sequence[Linear]) -> Linear:
    """Return one layer that gives the outputs of several plain ones; all or none have a bias."""
    biases = [layer.bias for layer in layers if layer.bias is not None]
    weight = torch.cat([layer.weight for layer in layers])
    return Linear(weight, torch.cat(biases) if biases else None)


def filled_up(rows: int) -> int:
    """Return how many rows to compute if `rows` are needed.

    There are at most eight such numbers from one power of two to the next.
    """
    step = max(ROW_BLOCK, (1 << (max(rows, 1) - 1).bit_length()) // 16)
    return -(-rows // step) * step


def fill_up(rows: Tensor) -> Tensor:
    """Return `rows` [N, D] with zeros below them, up to `filled_up(N)`.

    It is `rows` itself where none are missing.
    """
    missing = filled_up(len(rows)) - len(rows)
    return torch.cat([rows, rows.new_zeros(missing, rows.shape[1])]) if missing else rows


def has_bf16() -> bool:
    """Tell whether oneDNN has products of bf16 on this CPU; torch's own are slow."""
    return torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()


def _can_pack(weight: Tensor) -> bool:
    if weight.device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return False
    return weight.dtype == torch.float32 or has_bf16()
