"""Training of a loaded model on pairs of pieces, which can go on from its last checkpoint.

Adam, label smoothing, dropout, a warm-up, batches of pairs of like length. All randomness is
seeded by the number of the update or of the epoch. So after a kill the training goes on as if
nothing had been (on a CPU to the bit).
"""

import math
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.seeding import generator
from workflow_scripts.core.statistics.numbers import perplexity
from workflow_scripts.core.training.loop import TrainingLoop, descend
from workflow_scripts.nmt.scoring import Pair
from workflow_scripts.nmt.trainable import Trainable, forced_loss

# The pairs of this many batches are sorted by length together.
_POOL = 64
_BETAS = (0.9, 0.98)


class Training(TrainingLoop[tuple[int, list[Pair]]]):
    """A training in progress. A batch is pairs, with the number of their epoch.

    Attributes:
        history: a row of `train.curve.COLUMNS` for each checkpoint.
        seconds: until the last checkpoint, of all processes together.
    """

    def __init__(
        self,
        role: str,
        trainable: Trainable,
        settings: dict[str, Any],
        *,
        train: Sequence[Pair],
        dev: Sequence[Pair],
        seed: int,
    ):
        """Prepare to train, in place.

        Args:
            role: of the model, for messages.
            trainable: the parameters to be trained.
            settings: a complete block `continued`.
            train: pairs of piece ids, none of them empty or too long.
            dev: those that it is validated on.
            seed: of all that is drawn.
        """
        super().__init__(f"train {role}", settings["max_updates"], trainable.device)
        self.role, self.trainable, self.settings = role, trainable, settings
        self.train, self.dev, self.seed = train, dev, seed
        self.score = lambda point: -point["validation_perplexity"]
        self.seconds, self._begun = 0.0, time.monotonic()
        self._optimizer = torch.optim.Adam(
            trainable.trained, lr=settings["learning_rate"], betas=_BETAS, fused=True
        )

    def run(self, path: Path | None = None, every: float = math.inf) -> None:
        """Train to the end, see `TrainingLoop`; each checkpoint writes the state file.

        Raises:
            InputError: the loss is no number any more.
        """
        super().run(path, every)

    def about(self) -> str:
        """Return that the end may come earlier, and the perplexity since the last checkpoint."""
        return f" at most, perplexity {perplexity(self.mean_loss()):.2f}"

    def finished(self) -> bool:
        """Return whether nothing is left to be done."""
        patience = self.settings["patience"]
        return self.updates >= self.total or (
            patience is not None
            and bool(self.history)
            and len(self.history) - 1 - self.best_point() >= patience
        )

    def batches(self) -> Iterator[tuple[int, list[Pair]]]:
        """Yield the batches of the updates that are left, each with the number of its epoch."""
        first = epoch = 0
        while not self.finished():
            epoch += 1
            cut = batches(self.train, self.settings["batch_words"], self.seed, epoch)
            for number, batch in enumerate(cut, start=first):
                if number == self.updates and not self.finished():
                    yield epoch, batch
            first += len(cut)

    def update(self, batch: tuple[int, list[Pair]]) -> None:
        """Train on a batch, and validate where a checkpoint is due."""
        epoch, pairs = batch
        number = self.updates
        torch.manual_seed(int(generator(self.seed, "dropout", number).integers(2**62)))
        model = self.trainable.model(self.settings["dropout"])
        loss = forced_loss(model, pairs, self.settings["label_smoothing"])
        rate = self.settings["learning_rate"] * factor(number, self.settings)
        norm = descend(loss.smoothed / loss.tokens, self._optimizer, self.trainable.trained, rate)
        if not math.isfinite(norm):
            raise self._diverged(number + 1)
        self.updates += 1
        self.add_loss(float(loss.smoothed.detach()), loss.tokens)
        if self.updates == self.total or self.updates % self.settings["checkpoint_updates"] == 0:
            self._checkpoint(epoch, rate)

    def _diverged(self, update: int) -> InputError:
        return InputError(
            f"the training of {self.role} diverged at update {update}: lower "
            "continued.learning_rate, or raise its warmup"
        )

    @torch.no_grad()
    def _validated(self) -> float:
        """Return the perplexity per target piece of the dev pairs, labels smoothed as in training.

        It stands beside that of the training in the curve.
        """
        model = self.trainable.model()
        total, tokens = 0.0, 0
        for batch in cut_by_length(self.dev, self.settings["batch_words"]):
            loss = forced_loss(model, batch, self.settings["label_smoothing"])
            total, tokens = total + float(loss.smoothed), tokens + loss.tokens
        return perplexity(total / tokens)

    def _checkpoint(self, epoch: int, rate: float) -> None:
        """Validate, and write all that the training needs to go on."""
        self.seconds = time.monotonic() - self._begun
        validation, training = self._validated(), perplexity(self.mean_loss())
        if math.inf in (validation, training):
            raise self._diverged(self.updates)
        self.add_point(
            {
                "checkpoint": len(self.history) + 1,
                "updates": self.updates,
                "epoch": epoch,
                "learning_rate": rate,
                "train_perplexity": training,
                "validation_perplexity": validation,
            }
        )
        if self.path:
            self.save()
        print(
            f"{self.role}: checkpoint {len(self.history)}, {self.updates:,} updates, validation "
            f"perplexity {validation:.3f}",
            file=sys.stderr,
            flush=True,
        )

    def weights(self) -> list[Tensor]:
        """Return a copy of the parameters."""
        return self.trainable.copy()

    def take_back(self, weights: list[Tensor]) -> None:
        """Set the parameters to what `weights` returned."""
        self.trainable.restore(weights)

    def state(self) -> dict[str, Any]:
        """Return parameters, optimizer, the best parameters, the curve and the counts."""
        return {
            "state": {
                "updates": self.updates,
                "best": self.best,
                "curve": self.history,
                "seconds": self.seconds,
            },
            "parameters": self.weights(),
            "optimizer": self._optimizer.state_dict(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to the checkpoint where `state` was taken."""
        saved = state["state"]
        self.updates, self.best, self.history = saved["updates"], saved["best"], saved["curve"]
        self.seconds, self._begun = saved["seconds"], time.monotonic() - saved["seconds"]
        self.take_back(state["parameters"])
        self._optimizer.load_state_dict(state["optimizer"])


def factor(update: int, settings: dict[str, Any]) -> float:
    """Return the share of the peak learning rate that the update after `update` others takes."""
    warmup, total = settings["warmup"], settings["max_updates"]
    rising = (update + 1) / max(warmup, 1)
    if rising < 1:
        return rising
    if settings["schedule"] == "linear-decay":
        return (total - update) / max(total - warmup + 1, 1)
    return math.sqrt(max(warmup, 1) / (update + 1))


def batches(pairs: Sequence[Pair], words: int, seed: int, epoch: int) -> list[list[Pair]]:
    """Return all pairs once, in batches of like length, in an order of their own each epoch."""
    random = generator(seed, "batches", epoch)
    order = random.permutation(len(pairs))
    pool: list[Pair] = []
    result: list[list[Pair]] = []
    room = _POOL * words
    filled = 0
    for index in order:
        pool.append(pairs[index])
        filled += _width(pairs[index])
        if filled >= room:
            result += cut_by_length(pool, words)
            pool, filled = [], 0
    result += cut_by_length(pool, words)
    return [result[index] for index in random.permutation(len(result))]


def cut_by_length(pairs: Sequence[Pair], words: int) -> list[list[Pair]]:
    """Return pairs in batches by length, of at most `words` padded positions of the longer side.

    A pair that is longer than that makes a batch by itself.
    """
    result: list[list[Pair]] = []
    batch: list[Pair] = []
    for pair in sorted(pairs, key=lambda pair: (_width(pair), pair)):
        if batch and (len(batch) + 1) * _width(pair) > words:
            result.append(batch)
            batch = []
        batch.append(pair)
    return [*result, batch] if batch else result


def _width(pair: Pair) -> int:
    """Return the positions of the longer side with its </s>."""
    return max(map(len, pair)) + 1
