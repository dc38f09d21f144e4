import pytest
import torch

from tests.oracles import SMALL
from tests.unit.nmt.devices import comparisons

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.mark.rest
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_device_writes_what_the_cpu_writes(precision: str):
    """Without a GPU the two are one; benchmarks/gpu.sh has one compared."""
    found = list(comparisons(SMALL, DEVICE, precision))
    assert all(one.outputs and one.is_close(precision) for one in found), found
