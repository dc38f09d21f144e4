import platform

import pytest

from workflow_scripts.nmt import int8


@pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"),
    reason=f"int8 is promised for x86 CPUs, this one is {platform.machine()}",
)
def test_the_pinned_torch_computes_in_8_bits():
    """Where it could not, all tests of int8 would be skipped, and nobody would notice."""
    assert int8.can_compute()
