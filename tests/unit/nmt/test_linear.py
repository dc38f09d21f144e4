import platform

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from workflow_scripts.nmt import int8
from workflow_scripts.nmt.linear import ROW_BLOCK, Linear, fill_up, filled_up

PACKED = torch.backends.mkldnn.is_available()


def layer(dtype: torch.dtype, bias: bool = True) -> tuple[Linear, torch.Tensor]:
    """Return a layer on the CPU and its weight."""
    generator = torch.Generator().manual_seed(3)
    weight = torch.randn(48, 32, generator=generator)
    linear = Linear(weight, torch.randn(48, generator=generator) if bias else None)
    return linear.to(torch.device("cpu"), dtype), weight.to(dtype)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(1, 32), (37, 32), (3, 5, 32), (0, 32)])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-4), (torch.bfloat16, 0.3)])
@torch.inference_mode()
def test_outputs_are_those_of_torch(dtype, tolerance, shape, bias):
    linear, weight = layer(dtype, bias)
    x, residual = torch.randn(shape).to(dtype), torch.randn(*shape[:-1], 48).to(dtype)
    expected = F.linear(x.float(), weight.float(), linear.bias.float() if bias else None)
    assert torch.allclose(linear(x).float(), expected, atol=tolerance)
    assert torch.allclose(linear.activated(x, "relu").float(), expected.relu(), atol=tolerance)
    assert torch.allclose(linear.added(x, residual).float(), expected + residual, atol=tolerance)


@pytest.mark.skipif(not PACKED, reason="this torch has no oneDNN")
def test_weights_are_packed_and_come_back_whole():
    linear, weight = layer(torch.float32)
    assert linear.weight.is_mkldnn
    assert torch.equal(linear.plain(), weight)


def test_without_onednn_a_layer_is_torchs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    linear, weight = layer(torch.float32)
    assert not linear.weight.is_mkldnn
    assert torch.equal(linear.plain(), weight)
    x = torch.randn(3, 32)
    assert torch.equal(linear.activated(x, "relu"), F.linear(x, weight, linear.bias).relu())


def test_rows_are_filled_up_to_few_numbers():
    numbers = [filled_up(rows) for rows in range(1, 4097)]
    for rows, filled in enumerate(numbers, start=1):
        assert rows <= filled < rows + max(ROW_BLOCK, rows / 8)
    assert len(set(numbers)) == 16 + 4 * 8  # up to 256, then of four octaves
    assert filled_up(0) == 0
    filled = fill_up(torch.ones(37, 2))
    assert filled.sum() == 74 and filled.shape == (48, 2) and filled[37:].eq(0).all()


@pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"),
    reason=f"int8 is promised for x86 CPUs, this one is {platform.machine()}",
)
def test_the_pinned_torch_computes_in_8_bits():
    """Where it could not, all tests of int8 would be skipped, and nobody would notice."""
    assert int8.can_compute()
