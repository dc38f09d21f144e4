"""The loop of a training: its updates, the points that measure it, and the file it goes on from.

All that is random in an update follows from seeds and from numbers that the state file holds. So a
training that goes on from there ends on a CPU with the same bits as one that was never interrupted.
"""

import math
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar
from zipfile import ZipFile

import torch
from torch import Tensor, nn

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import atomic_path
from workflow_scripts.core.progress import INTERVAL_SECONDS, duration, progress_line

# Seconds between two state files; what came after the last one is done again after a kill.
CHECKPOINT_SECONDS = 300.0
# The norm that the gradient of all weights together has at most, where it is bounded.
LARGEST_GRADIENT = 1.0

Batch = TypeVar("Batch")
Point = dict[str, Any]


class TrainingLoop(ABC, Generic[Batch]):
    """A model in training. Subclasses say what a batch is, and what is learnt from it.

    Attributes:
        desc: what is trained, for lines of progress.
        unit: what `done` counts.
        updates: that are done.
        total: of the units, what the whole training has at most.
        history: the points at which the training was measured.
        score: how good a point is; the weights of the best one are those that stay, of equally
            good ones those of the first. None: the last weights stay.
        best: the weights of the best point so far.
        network: what has the weights.
        path: the state file, while the training runs; None: none is written.
    """

    unit = "updates"
    network: nn.Module

    def __init__(self, desc: str, total: int, device: str | torch.device = "cpu"):
        self.desc, self.device = desc, torch.device(device)
        self.path: Path | None = None
        self.updates, self.total = 0, total
        self.history: list[Point] = []
        self.score: Callable[[Point], float] | None = None
        self.best: Any = None
        self._loss_sum, self._loss_items, self._last_mean = 0.0, 0.0, math.nan

    # --- what a subclass says --------------------------------------------------------------------

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """Yield the batches that are left, to the end of the training."""

    @abstractmethod
    def update(self, batch: Batch) -> None:
        """Train on a batch, and measure where a point is due."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return all that `restore` needs to go on with the same bits."""

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Go back to where `state` was taken."""

    def done(self) -> tuple[int, int]:
        """Return how many units are done, and of how many."""
        return self.updates, self.total

    def about(self) -> str:
        """Return what stands at the end of a line of progress."""
        return f", loss {self.mean_loss():.4f}"

    def weights(self) -> Any:
        """Return a copy of the weights."""
        return {name: value.clone() for name, value in self.network.state_dict().items()}

    def take_back(self, weights: Any) -> None:
        """Set the weights to what `weights` returned."""
        self.network.load_state_dict(weights)

    # --- the loop --------------------------------------------------------------------------------

    def run(self, path: Path | None = None, every: float = CHECKPOINT_SECONDS) -> None:
        """Train to the end, from the state file if there is one; the best weights stay.

        Args:
            path: the state file, which is written meanwhile.
            every: seconds between two of them.

        Raises:
            InputError: the state file is damaged.
        """
        self.path = path
        if path and path.exists():
            check_state(path)
            self.restore(torch.load(path, map_location=self.device, weights_only=True))
        started = reported = saved = time.monotonic()
        before = self.done()[0]
        for batch in self.batches():
            self.update(batch)
            now = time.monotonic()
            if now - reported >= INTERVAL_SECONDS:
                self._report(before, now - started)
                reported = now
            if path and now - saved >= every:
                self.save()
                saved = time.monotonic()
        done, took = self.done()[0] - before, time.monotonic() - started
        print(f"{self.desc}: {done:,} {self.unit} done in {duration(took)}", file=sys.stderr)
        if self.best is not None:
            self.take_back(self.best)

    def save(self) -> None:
        """Write the state file."""
        assert self.path  # nothing is saved else
        with atomic_path(self.path) as temporary:
            torch.save(self.state(), temporary)

    def _report(self, before: int, elapsed: float) -> None:
        line = progress_line(self.desc, *self.done(), elapsed, self.unit, before)
        print(f"{line}{self.about()}", file=sys.stderr, flush=True)

    # --- points ----------------------------------------------------------------------------------

    def add_loss(self, loss: float, items: float = 1.0) -> None:
        """Count a loss, summed over `items`, towards the mean at the next point."""
        self._loss_sum += loss
        self._loss_items += items

    def mean_loss(self) -> float:
        """Return the mean loss since the last point; right behind a point, that of the point."""
        return self._loss_sum / self._loss_items if self._loss_items else self._last_mean

    def best_point(self) -> int:
        """Return the place in the history of the best point; of equally good ones the first."""
        score = self.score
        assert score  # else no point is better than another one
        return max(range(len(self.history)), key=lambda place: score(self.history[place]))

    def add_point(self, point: Point) -> None:
        """Keep a point, and the weights if it is the best so far; the mean loss begins anew."""
        if self.score and all(self.score(point) > self.score(earlier) for earlier in self.history):
            self.best = self.weights()
        self.history.append(point)
        self._last_mean = self.mean_loss()
        self._loss_sum, self._loss_items = 0.0, 0.0


def check_state(path: Path) -> None:
    """Check a state file by the sums in it; torch does not look at them.

    Raises:
        InputError: it is damaged.
    """
    try:
        with ZipFile(path) as archive:
            damaged = archive.testzip() and "its sums are others"
    except Exception as error:  # which one depends on the place of the damage
        damaged = str(error)
    if damaged is not None:
        raise InputError(
            f"{path} is damaged ({damaged}); put it back from a copy, or delete it: then this "
            "training starts over"
        )


def descend(
    loss: Tensor,
    optimizer: torch.optim.Optimizer,
    weights: Sequence[Tensor],
    rate: float | None = None,
    largest: float = LARGEST_GRADIENT,
) -> float:
    """Move weights down the slope of a loss.

    Args:
        loss: of a batch.
        optimizer: of the weights.
        weights: all of them.
        rate: the learning rate; None: that of the optimizer.
        largest: the norm to which the gradient is cut.

    Returns:
        The norm of the gradient before it was cut.
    """
    if rate is not None:
        for group in optimizer.param_groups:
            group["lr"] = rate
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(weights, largest)
    optimizer.step()
    return float(norm)
