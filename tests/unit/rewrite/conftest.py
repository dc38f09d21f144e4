"""What tests of rewriters share."""

import pytest
import torch


@pytest.fixture(autouse=True)
def kernels():
    """Give torch its kernels back: a training chooses others for its whole process."""
    yield
    torch.set_float32_matmul_precision("highest")
    torch.backends.cuda.enable_flash_sdp(True)
