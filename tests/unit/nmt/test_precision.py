import platform

import pytest
import torch

from workflow_scripts.nmt import attention, int8
from workflow_scripts.nmt.attention import attend_in_groups


@pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"),
    reason=f"int8 is promised for x86 CPUs, this one is {platform.machine()}",
)
def test_the_pinned_torch_computes_in_8_bits():
    """Where it could not, all tests of int8 would be skipped, and nobody would notice."""
    assert int8.can_compute()


@pytest.mark.parametrize("has", [True, False])
def test_attention_is_the_same_with_and_without_products_of_bf16(monkeypatch, has):
    monkeypatch.setattr(attention, "has_bf16", lambda: has)
    torch.manual_seed(1)
    query, keys, values = (torch.randn(2, 3, rows, 8) for rows in (4, 5, 5))
    mask = torch.zeros(2, 1, 4, 5)
    mask[1, :, :, 3:] = -torch.inf
    exact = attend_in_groups(query, keys, values, mask)
    found = attend_in_groups(*(each.bfloat16() for each in (query, keys, values)), mask)
    torch.testing.assert_close(found.float(), exact, atol=0.02, rtol=0.02)
