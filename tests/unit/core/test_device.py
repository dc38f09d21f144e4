import subprocess
import sys

import pytest
import torch

from workflow_scripts.core.device import choose_device
from workflow_scripts.core.errors import InputError


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_cuda_without_a_gpu_is_refused():
    with pytest.raises(InputError, match="no GPU"):
        choose_device("cuda")
    assert choose_device("auto") == torch.device("cpu")


def test_torch_is_imported_by_whoever_chooses():
    program = "import sys, workflow_scripts.core.device; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False\n"
