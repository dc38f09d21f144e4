"""A training of whole epochs, each of equally many batches, with an update for each batch."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.training.loop import (
    CHECKPOINT_SECONDS,
    LARGEST_GRADIENT,
    Batch,
    Point,
    TrainingLoop,
    descend,
)


class EpochLoop(TrainingLoop[Batch]):
    """A network in training, epoch by epoch.

    Attributes:
        history: points with the `updates` done, the mean `loss` since the point before, and at the
            end of an epoch what was measured.
    """

    def __init__(
        self,
        network: nn.Module,
        optimizer: torch.optim.Optimizer,
        batches: Callable[[int], Iterable[Batch]],
        loss: Callable[[Batch], Tensor],
        *,
        epochs: int,
        per_epoch: int,
        desc: str,
        remedy: str = "learning_rate",
        device: str | torch.device = "cpu",
        rate: Callable[[int], float] | None = None,
        measure: Callable[[], Point] | None = None,
        points: int = 1,
        largest: float = LARGEST_GRADIENT,
    ):
        """Prepare to train `network`, in place.

        Args:
            network: on the device.
            optimizer: of its weights.
            batches: returns those of an epoch, given its number from 0.
            loss: of a batch.
            epochs: how many.
            per_epoch: batches of each of them.
            desc: what is trained, for messages.
            remedy: what to lower where the training diverges.
            device: for torch.
            rate: returns the learning rate of an update, given its number from 0; None: that of the
                optimizer always.
            measure: called at the end of each epoch, with the network in evaluation mode.
            points: how many of them an epoch has.
            largest: the norm to which gradients are cut.
        """
        super().__init__(desc, epochs * per_epoch, device)
        self.network, self._optimizer = network, optimizer
        self._batches, self._loss_of, self._rate = batches, loss, rate
        self._per_epoch, self._points, self._measure = per_epoch, points, measure
        self._largest, self._remedy = largest, remedy

    def state(self) -> dict[str, Any]:
        """Return network, optimizer, points and counts; of the best point nothing is kept."""
        return {
            "model": self.network.state_dict(),
            "adam": self._optimizer.state_dict(),
            "updates": self.updates,
            "history": self.history,
            "loss": [self._loss_sum, self._loss_items],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to where `state` was taken."""
        self.network.load_state_dict(state["model"])
        self._optimizer.load_state_dict(state["adam"])
        self.updates, self.history = state["updates"], state["history"]
        self.add_loss(*state["loss"])

    def run(self, path: Path | None = None, every: float = CHECKPOINT_SECONDS) -> None:
        """Train to the end, see `TrainingLoop`; the network is left in evaluation mode.

        Raises:
            InputError: the loss or a weight is no longer finite.
        """
        super().run(path, every)
        if not all(bool(weights.isfinite().all()) for weights in self.network.parameters()):
            # By the last updates, whose losses were taken before.
            raise self._not_finite("a weight")
        self.network.eval()

    def batches(self) -> Iterator[Batch]:
        """Yield the batches that are left."""
        while self.updates < self.total:
            epoch, place = divmod(self.updates, self._per_epoch)
            batches = self._batches(epoch)
            self.network.train()
            yield from islice(batches, place, None)
            if self.updates != (epoch + 1) * self._per_epoch:
                raise RuntimeError(f"{self.desc}: epoch {epoch} has not {self._per_epoch} batches")

    def update(self, batch: Batch) -> None:
        """Make the update of a batch."""
        loss = self._loss_of(batch)
        rate = self._rate(self.updates) if self._rate else None
        descend(loss, self._optimizer, list(self.network.parameters()), rate, self._largest)
        self.updates += 1
        self.add_loss(float(loss.detach()))
        done = (self.updates - 1) % self._per_epoch + 1
        if done * self._points // self._per_epoch > (done - 1) * self._points // self._per_epoch:
            self._add_measured(done == self._per_epoch)

    def _add_measured(self, end_of_epoch: bool) -> None:
        point: Point = {"updates": self.updates, "loss": self.mean_loss()}
        if not np.isfinite(point["loss"]):
            raise self._not_finite("the loss")
        if end_of_epoch and self._measure:
            self.network.eval()
            point |= self._measure()
            self.network.train()
        self.add_point(point)

    def _not_finite(self, what: str) -> InputError:
        return InputError(
            f"{self.desc}: {what} is not finite after {self.updates} updates; lower {self._remedy}"
        )
