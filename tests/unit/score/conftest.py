"""The forward and the backward model of the tests of `dual_filter`."""

import pytest
import torch

from tests.unit.dual_filter.conftest import model_folder


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("both_models")
    return {
        "forward": model_folder(folder / "forward", ("source", "reference"), seed=1),
        "backward": model_folder(folder / "backward", ("reference", "source"), seed=2),
    }
