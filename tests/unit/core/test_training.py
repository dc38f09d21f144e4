"""The loop of trainings, on a network of one weight."""

import pytest
import torch
from torch import nn

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.training import work_plan
from workflow_scripts.core.training.epochs import EpochLoop

pytestmark = pytest.mark.slow  # it loads torch


def loop(epochs):
    """Return a training whose epochs have these numbers of batches, where two are told."""
    network = nn.Linear(1, 1)
    return EpochLoop(
        network,
        torch.optim.SGD(network.parameters(), lr=0.1),
        lambda epoch: iter(torch.ones(epochs[epoch], 1, 1)),
        lambda batch: network(batch).square().mean(),
        epochs=len(epochs),
        per_epoch=2,
        desc="toy",
    )


def test_epochs_have_the_batches_that_they_are_told_to_have():
    training = loop([2, 2])
    training.run()
    assert training.updates == 4


@pytest.mark.parametrize("epochs", [[1, 2], [2, 0], [3, 1]])
def test_an_epoch_with_another_number_of_batches_ends_the_training(epochs):
    with pytest.raises(RuntimeError, match="has not 2 batches"):
        loop(epochs).run()


@pytest.mark.parametrize("part", ["empty", "cut", "digit"])
def test_a_damaged_state_file_is_told(tmp_path, part):
    path = tmp_path / "state.pt"
    training = loop([2, 2])
    training.run(path, every=0)
    whole = path.read_bytes()
    weight = training.network.weight.detach().numpy().tobytes()
    other = bytes([weight[0] ^ 1]) + weight[1:]
    damaged = {"empty": b"", "cut": whole[:-40], "digit": whole.replace(weight, other)}[part]
    assert damaged != whole
    path.write_bytes(damaged)
    with pytest.raises(InputError, match=r"state.pt is damaged .*, or delete it"):
        loop([2, 2]).run(path)


def test_a_damaged_plan_is_told(tmp_path):
    path = tmp_path / "plan.json"
    path.write_text('{"seed": 1', "utf-8")
    with pytest.raises(InputError, match=r"plan.json is damaged .*, or delete"):
        work_plan.follow("toy", path, {"seed": 1})
