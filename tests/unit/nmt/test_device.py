"""A device writes what the CPU writes; `benchmarks/gpu.sh` says how near a GPU comes."""

from contextlib import nullcontext

import pytest
import torch

from tests.oracles import SMALL
from tests.unit.nmt.devices import comparisons
from tests.unit.nmt.pretended import CUDA, Pretended

HAS_GPU = torch.cuda.is_available()


@pytest.mark.rest
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_device_writes_what_the_cpu_writes(monkeypatch: pytest.MonkeyPatch, precision: str):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with nullcontext() if HAS_GPU else Pretended():
        found = list(comparisons(SMALL, "cuda", precision))
    assert all(one.outputs and one.is_close(precision) for one in found), found


def test_what_mixes_places_is_refused_on_a_pretended_device():
    with Pretended():
        far = torch.ones(2, device="cuda")
        assert (far + 1).device == far.view(1, 2).T.device == far.new_zeros(3).device == CUDA
        assert far.cpu().device == far.to("cpu").device == torch.ones(2).device != CUDA
        assert (far.tolist(), far[torch.tensor([0])].device) == ([1.0, 1.0], CUDA)
        for wrong in (lambda: far + torch.ones(2), lambda: torch.ones(2)[far.long()]):
            with pytest.raises(RuntimeError, match="tensors on cuda and on the CPU"):
                wrong()
        with pytest.raises(TypeError, match="can't convert"):
            far.numpy()
