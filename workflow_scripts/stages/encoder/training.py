"""The training loop of a Hugging Face model: fine-tuning after Devlin et al. (2018), resumable.

Adam with decoupled weight decay, a learning rate that rises linearly and then falls linearly to 0,
and gradients of a norm of 1 at most (their appendix A.2 and A.3). All randomness follows from the
seeds and the number of the epoch or update, so a training that goes on from a checkpoint ends on a
CPU with the same bits as one that was never interrupted.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import atomic_path
from workflow_scripts.core.files.seal import canonical
from workflow_scripts.core.files.space import explained
from workflow_scripts.core.progress import INTERVAL_SECONDS, progress_line
from workflow_scripts.encoding.model_outputs import Inputs, Items, computed_in, in_batches

# Seconds between two checkpoints; what came after the last one is done again after a kill.
CHECKPOINT_SECONDS = 300.0
# The norm that the gradient of all weights together has at most.
_LARGEST_GRADIENT = 1.0
# Batches whose items are sorted by length together: little padding, and still a random order.
_POOL = 50
# The history has the mean loss so many times in an epoch.
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


class Fitting:
    """A model in training, with all that a checkpoint holds.

    Attributes:
        updates: batches done.
        total: batches of the whole training.
        history: points of the learning curve: `updates` done, the mean `loss` since the point
            before, and at the end of an epoch what `measure` found.
    """

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
            desc: of the progress.

        Raises:
            InputError: there is no item.
        """
        if not len(lengths):
            raise InputError(f"{desc}: nothing is left to train on")
        self.model, self._inputs, self._lengths = model, inputs, np.asarray(lengths)
        self._settings, self._random, self._loss, self._measure = settings, random, loss, measure
        self._device, self._desc = torch.device(device), desc
        self.model.to(self._device).train()
        self._adam = torch.optim.AdamW(_of_decay(model, settings["weight_decay"]), lr=0.0)
        self._per_epoch = -(-len(lengths) // settings["batch"])
        self.total = settings["epochs"] * self._per_epoch
        self.updates = 0
        self.history: list[dict[str, float]] = []
        self._sum, self._since = 0.0, 0
        self._batches: tuple[int, list[Items]] = (-1, [])

    # --- checkpoints -----------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return all that `restore` needs to go on with the same bits."""
        return {
            "model": self.model.state_dict(),
            "adam": self._adam.state_dict(),
            "updates": self.updates,
            "history": self.history,
            "loss": [self._sum, self._since],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to where `state` was taken."""
        self.model.load_state_dict(state["model"])
        self._adam.load_state_dict(state["adam"])
        self.updates, self.history = state["updates"], state["history"]
        self._sum, self._since = state["loss"]

    def run(
        self,
        checkpoint: Path | None = None,
        plan: dict[str, Any] | None = None,
        every: float = CHECKPOINT_SECONDS,
    ) -> None:
        """Train to the end, from `checkpoint` if it followed the same plan.

        The model is left in evaluation mode.

        Args:
            checkpoint: the file that is written meanwhile.
            plan: all that the training follows from, data by their hashes; a checkpoint of
                another plan is thrown away, and stderr says so.
            every: seconds between two checkpoints.

        Raises:
            InputError: the loss or a weight is no longer finite, or the disk is full.
        """
        plan_text = canonical(plan or {})
        if checkpoint and checkpoint.exists():
            kept = torch.load(checkpoint, map_location=self._device, weights_only=True)
            if kept["plan"] == plan_text:
                self.restore(kept["state"])
            else:
                print(
                    f"{self._desc}: {checkpoint} is of other data or settings; starting over",
                    file=sys.stderr,
                )
        started = reported = saved = time.monotonic()
        before = self.updates
        while self.updates < self.total:
            self._update()
            now = time.monotonic()
            if now - reported >= INTERVAL_SECONDS:
                self._report(self.updates - before, self.total - before, now - started)
                reported = now
            if checkpoint and now - saved >= every:
                self._save(checkpoint, plan_text)
                saved = time.monotonic()
        if not all(bool(each.isfinite().all()) for each in self.model.parameters()):
            # By the last updates, whose losses were taken before.
            raise self._not_finite("a weight")
        self.model.eval()

    def _not_finite(self, what: str) -> InputError:
        return InputError(
            f"{self._desc}: {what} is not finite after {self.updates} updates; lower "
            "training.learning_rate (of tasks: encoder_tasks.learning_rates)"
        )

    def _save(self, checkpoint: Path, plan_text: str) -> None:
        with explained(checkpoint), atomic_path(checkpoint) as temporary:
            torch.save({"plan": plan_text, "state": self.state()}, temporary)

    def _report(self, done: int, total: int, elapsed: float) -> None:
        line = progress_line(self._desc, done, total, elapsed, "updates")
        mean = self._sum / self._since if self._since else self.history[-1]["loss"]
        print(f"{line}, loss {mean:.4f}", file=sys.stderr, flush=True)

    # --- training --------------------------------------------------------------------------------

    def _batch(self) -> Items:
        """Return the items of the next update."""
        epoch, place = divmod(self.updates, self._per_epoch)
        if self._batches[0] != epoch:
            self._batches = epoch, self._in_order(epoch)
        return self._batches[1][place]

    def _in_order(self, epoch: int) -> list[Items]:
        """Return the batches of an epoch: a random order, sorted by length within pools."""
        random, size = self._random("order", epoch), self._settings["batch"]
        order = random.permutation(len(self._lengths))
        batches: list[Items] = []
        for start in range(0, len(order), _POOL * size):
            batches += in_batches(order[start : start + _POOL * size], self._lengths, size)
        return [batches[place] for place in random.permutation(len(batches))]

    def _update(self) -> None:
        epoch = self.updates // self._per_epoch
        batch = {
            name: value.to(self._device)
            for name, value in self._inputs(self._batch(), epoch).items()
        }
        # Dropout draws from torch's own generator.
        torch.manual_seed(int(self._random("dropout", self.updates).integers(2**63)))
        for group in self._adam.param_groups:
            group["lr"] = learning_rate(self.updates, self.total, self._settings)
        with computed_in(self._settings["precision"], self._device):
            loss = self._loss(self.model, batch)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), _LARGEST_GRADIENT)
        self._adam.step()
        self._adam.zero_grad()
        self.updates += 1
        self._sum, self._since = self._sum + float(loss.detach()), self._since + 1
        self._point()

    def _point(self) -> None:
        """Add a point to the history where one is due."""
        done = (self.updates - 1) % self._per_epoch + 1
        if done * _POINTS // self._per_epoch == (done - 1) * _POINTS // self._per_epoch:
            return
        point = {"updates": self.updates, "loss": self._sum / self._since}
        if not np.isfinite(point["loss"]):
            raise self._not_finite("the loss")
        if done == self._per_epoch and self._measure:
            self.model.eval()
            point |= self._measure()
            self.model.train()
        self.history.append(point)
        self._sum, self._since = 0.0, 0
