"""Training of a loaded model on pairs of pieces, to be gone on with at its last checkpoint.

Adam, label smoothing, dropout, a warm-up, batches of pairs of like length. All randomness is
seeded by the number of the update or of the epoch. So after a kill the training goes on as if
nothing had been (on a CPU to the bit).
"""

import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import atomic_path
from workflow_scripts.core.progress import INTERVAL_SECONDS
from workflow_scripts.core.seeding import generator
from workflow_scripts.nmt.scoring import Pair
from workflow_scripts.nmt.trainable import Trainable, forced_loss

# Pairs of so many batches are sorted by length together.
_POOL = 64
_BETAS = (0.9, 0.98)
# The most that the norm of all gradients may be.
_CLIP = 1.0


@dataclass
class State:
    """Where a training stands.

    `best`: the parameters of the best checkpoint; `worse`: checkpoints since then; `curve`: a row
    of `train.curve.COLUMNS` for each checkpoint; `seconds`: of all processes together.
    """

    updates: int = 0
    best: list[Tensor] = field(default_factory=list)
    best_checkpoint: int = 0
    worse: int = 0
    curve: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0


class Training:
    """A training in progress.

    Args:
        role: of the model, for messages.
        trainable: the parameters to be trained.
        settings: a complete block `continued`.
        train: pairs of piece ids, none of them empty or too long.
        dev: those that it is validated on.
        seed: of all that is drawn.
        path: the file that the training goes on from after a kill.
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
        path: Path,
    ):
        self.role = role
        self.trainable = trainable
        self.settings = settings
        self.train, self.dev = train, dev
        self.seed = seed
        self.path = path
        self.state = State()
        self._optimizer = torch.optim.Adam(
            trainable.trained, lr=settings["learning_rate"], betas=_BETAS, fused=True
        )

    def run(self) -> State:
        """Train to the end, and leave the best parameters in the model.

        Raises:
            InputError: the loss is no number any more.
        """
        self._restore()
        start, seconds = time.monotonic(), self.state.seconds
        reported = start
        smoothed = 0.0
        tokens = 0
        for epoch, batch in self._batches_left():
            loss = self._update(batch)
            smoothed, tokens = smoothed + loss[0], tokens + loss[1]
            done = self.state.updates
            if time.monotonic() - reported >= INTERVAL_SECONDS:
                reported = time.monotonic()
                self._report(smoothed / tokens, reported - start + seconds)
            last = done == self.settings["max_updates"]
            if last or done % self.settings["checkpoint_updates"] == 0:
                self.state.seconds = seconds + time.monotonic() - start
                self._checkpoint(epoch, math.exp(smoothed / tokens))
                smoothed, tokens = 0.0, 0
        self.trainable.restore(self.state.best)
        return self.state

    def finished(self) -> bool:
        """Return whether nothing is left to be done."""
        patience = self.settings["patience"]
        return self.state.updates >= self.settings["max_updates"] or (
            patience is not None and self.state.worse >= patience
        )

    def _batches_left(self) -> Iterator[tuple[int, list[Pair]]]:
        """Yield the batches of the updates that are left, each with the number of its epoch."""
        first = epoch = 0
        while not self.finished():
            epoch += 1
            cut = batches(self.train, self.settings["batch_words"], self.seed, epoch)
            for number, batch in enumerate(cut, start=first):
                if number == self.state.updates and not self.finished():
                    yield epoch, batch
            first += len(cut)

    def _update(self, batch: list[Pair]) -> tuple[float, int]:
        """Train on a batch; return its summed loss, in nats, and its tokens."""
        number = self.state.updates
        rate = self.settings["learning_rate"] * factor(number, self.settings)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        torch.manual_seed(int(generator(self.seed, "dropout", number).integers(2**62)))
        model = self.trainable.model(self.settings["dropout"])
        loss = forced_loss(model, batch, self.settings["label_smoothing"])
        self._optimizer.zero_grad()
        (loss.smoothed / loss.tokens).backward()
        norm = torch.nn.utils.clip_grad_norm_(self.trainable.trained, _CLIP)
        if not math.isfinite(norm):
            raise InputError(
                f"the training of {self.role} diverged at update {number + 1}: lower "
                "continued.learning_rate, or raise its warmup"
            )
        self._optimizer.step()
        self.state.updates += 1
        return float(loss.smoothed.detach()), loss.tokens

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
        return math.exp(total / tokens)

    def _checkpoint(self, epoch: int, perplexity: float) -> None:
        """Validate, and write all that the training needs to go on."""
        state = self.state
        before = min((row["validation_perplexity"] for row in state.curve), default=math.inf)
        validation = self._validated()
        state.curve.append(
            {
                "checkpoint": len(state.curve) + 1,
                "updates": state.updates,
                "epoch": epoch,
                "learning_rate": self._optimizer.param_groups[0]["lr"],
                "train_perplexity": perplexity,
                "validation_perplexity": validation,
            }
        )
        state.worse += 1
        if validation < before:
            state.best, state.best_checkpoint = self.trainable.copy(), len(state.curve)
            state.worse = 0
        with atomic_path(self.path) as temporary:
            torch.save(
                {
                    "state": vars(state),
                    "parameters": self.trainable.copy(),
                    "optimizer": self._optimizer.state_dict(),
                },
                temporary,
            )
        print(
            f"{self.role}: checkpoint {len(state.curve)}, {state.updates:,} updates, validation "
            f"perplexity {validation:.3f}",
            file=sys.stderr,
            flush=True,
        )

    def _restore(self) -> None:
        """Go on from the last checkpoint, if there is one."""
        if not self.path.exists():
            return
        kept = torch.load(self.path, map_location=self.trainable.device, weights_only=True)
        self.state = State(**kept["state"])
        self.trainable.restore(kept["parameters"])
        self._optimizer.load_state_dict(kept["optimizer"])

    def _report(self, loss: float, seconds: float) -> None:
        done, total = self.state.updates, self.settings["max_updates"]
        rate = done / seconds
        print(
            f"train {self.role}: {done:,} of {total:,} updates ({done / total:.0%}), "
            f"{rate:.2f}/s, {(total - done) / rate / 60:.1f} min left at most, "
            f"perplexity {math.exp(loss):.2f}",
            file=sys.stderr,
            flush=True,
        )


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
    found: list[list[Pair]] = []
    room = _POOL * words
    filled = 0
    for index in order:
        pool.append(pairs[index])
        filled += _width(pairs[index])
        if filled >= room:
            found += cut_by_length(pool, words)
            pool, filled = [], 0
    found += cut_by_length(pool, words)
    return [found[index] for index in random.permutation(len(found))]


def cut_by_length(pairs: Sequence[Pair], words: int) -> list[list[Pair]]:
    """Return pairs in batches by length, of at most `words` padded positions of the longer side.

    A pair that is longer than that makes a batch by itself.
    """
    found: list[list[Pair]] = []
    batch: list[Pair] = []
    for pair in sorted(pairs, key=lambda each: (_width(each), each)):
        if batch and (len(batch) + 1) * _width(pair) > words:
            found.append(batch)
            batch = []
        batch.append(pair)
    return [*found, batch] if batch else found


def _width(pair: Pair) -> int:
    """Return the positions of the longer side with its </s>."""
    return max(map(len, pair)) + 1
