"""The precisions that a model can compute in."""

from dataclasses import dataclass

import torch

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt import int8
from workflow_scripts.nmt.int8 import Int8Linear
from workflow_scripts.nmt.linear import Linear


@dataclass(frozen=True)
class Precision:
    """How a model computes.

    `name`: in configurations; `dtype`: of everything but what follows; `kept`: of the keys and
    values that several hypotheses look at; `eight_bits`: whether linear layers multiply whole
    numbers of 8 bits.
    """

    name: str
    dtype: torch.dtype
    kept: torch.dtype
    eight_bits: bool = False

    def check(self, device: torch.device) -> None:
        """Refuse a device that has no such arithmetic.

        Raises:
            InputError: 8 bits are for CPUs, and for builds of torch with oneDNN.
        """
        if not self.eight_bits:
            return
        if device.type != "cpu":
            raise InputError(
                f"precision {self.name} is for CPUs; on {device.type} use bf16 or fp32"
            )
        if not int8.can_compute():
            raise InputError(
                f"precision {self.name}: this build of torch has no products of 8-bit numbers "
                "(oneDNN); use bf16 or fp32"
            )

    def linear(self, layer: Linear, device: torch.device) -> Linear:
        """Return the layer of a plain weight on a device, packed where that is faster."""
        return Int8Linear.of(layer) if self.eight_bits else layer.to(device, self.dtype)


FP32 = Precision("fp32", torch.float32, torch.float32)
PRECISIONS = {
    precision.name: precision
    for precision in (
        FP32,
        Precision("bf16", torch.bfloat16, torch.bfloat16),
        Precision("int8", torch.float32, torch.bfloat16, eight_bits=True),
    )
}
