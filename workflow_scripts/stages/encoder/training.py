"""The training loop of a Hugging Face model: fine-tuning after Devlin et al. (2018), resumable.

Adam with decoupled weight decay, a learning rate that rises linearly and then falls linearly to 0,
and gradients of a norm of 1 at most (their appendix A.2 and A.3). All randomness follows from the
seeds and the number of the epoch or update, so a training that goes on from a checkpoint ends on a
CPU with the same bits as one that was never interrupted.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.seal import canonical
from workflow_scripts.core.training.epochs import EpochLoop
from workflow_scripts.encoding.model_outputs import Inputs, Items, computed_in, in_batches

# Batches whose items are sorted by length together: little padding, and still a random order.
_POOL = 50
# How many times in an epoch the history has the mean loss.
_POINTS = 10

# Gets a purpose and numbers; returns the generator of that item.
Randoms = Callable[..., np.random.Generator]


def own_loss(model: nn.Module, inputs: dict[str, Tensor]) -> Tensor:
    """Return the loss that a model of transformers computes itself where it is given `labels`."""
    return model(**inputs).loss


def learning_rate(update: int, updates: int, settings: dict[str, Any]) -> float:
    """Return the learning rate of an update.

    Args:
        update: from 0.
        updates: of the whole training.
        settings: `learning_rate`, the highest; `warmup`, the share of the updates that reach it.
    """
    rising = int(settings["warmup"] * updates)
    if update < rising:
        share = (update + 1) / rising
    else:
        share = (updates - update) / max(updates - rising, 1)
    return settings["learning_rate"] * share


def _of_decay(model: nn.Module, decay: float) -> list[dict[str, Any]]:
    """Return the weights in two groups: biases and those of normalisation do not decay."""
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    return [
        {"params": [weight for weight in weights if weight.ndim > 1], "weight_decay": decay},
        {"params": [weight for weight in weights if weight.ndim <= 1], "weight_decay": 0.0},
    ]


class Fitting(EpochLoop[Items]):
    """A model of transformers in training. It goes on from a state file of the same plan alone."""

    def __init__(
        self,
        model: nn.Module,
        inputs: Inputs,
        lengths: NDArray[Any],
        settings: dict[str, Any],
        random: Randoms,
        device: str | torch.device = "cpu",
        *,
        loss: Callable[[nn.Module, dict[str, Tensor]], Tensor] = own_loss,
        measure: Callable[[], dict[str, float]] | None = None,
        plan: dict[str, Any] | None = None,
        desc: str = "encoder",
    ):
        """Prepare to train `model`, in place.

        Args:
            model: of transformers.
            inputs: what the model is called with for some items; see `Inputs`.
            lengths: of all items, in tokens, shape (items,).
            settings: `batch`, `epochs`, `learning_rate`, `warmup`, `weight_decay`, and
                `precision`: float32 or bfloat16, in which products of matrices are computed.
            random: of all randomness.
            device: for torch.
            loss: of a batch, given the model and its inputs on the device.
            measure: called at the end of each epoch, with the model in evaluation mode.
            plan: all that the training follows from, data by their hashes; a state file of another
                plan is thrown away, and stderr says so.
            desc: of the progress.

        Raises:
            InputError: there is no item.
        """
        if not len(lengths):
            raise InputError(f"{desc}: nothing is left to train on")
        self._inputs, self._lengths, self._loss = inputs, np.asarray(lengths), loss
        self._settings, self._random, self._plan = settings, random, canonical(plan or {})
        super().__init__(
            model.to(device),
            torch.optim.AdamW(_of_decay(model, settings["weight_decay"]), lr=0.0),
            self._in_order,
            self._loss_of_items,
            epochs=settings["epochs"],
            per_epoch=-(-len(lengths) // settings["batch"]),
            desc=desc,
            remedy="training.learning_rate (of tasks: encoder_tasks.learning_rates)",
            device=device,
            rate=lambda update: learning_rate(update, self.total, settings),
            measure=measure,
            points=_POINTS,
        )

    def state(self) -> dict[str, Any]:
        """Return the state of the training, and the plan that it follows."""
        return {"plan": self._plan, "state": super().state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to where `state` was taken, unless that was in a training of another plan."""
        if state["plan"] == self._plan:
            super().restore(state["state"])
        else:
            print(
                f"{self.desc}: {self.path} is of other data or settings; starting over",
                file=sys.stderr,
            )

    def _in_order(self, epoch: int) -> list[Items]:
        """Return the batches of an epoch: a random order, sorted by length within pools."""
        random, size = self._random("order", epoch), self._settings["batch"]
        order = random.permutation(len(self._lengths))
        batches: list[Items] = []
        for start in range(0, len(order), _POOL * size):
            batches += in_batches(order[start : start + _POOL * size], self._lengths, size)
        return [batches[place] for place in random.permutation(len(batches))]

    def _loss_of_items(self, items: Items) -> Tensor:
        inputs = self._inputs(items, self.updates // self._per_epoch)
        tensors = {name: value.to(self.device) for name, value in inputs.items()}
        # Dropout draws from torch's own generator.
        torch.manual_seed(int(self._random("dropout", self.updates).integers(2**63)))
        with computed_in(self._settings["precision"], self.device):
            return self._loss(self.network, tensors)
