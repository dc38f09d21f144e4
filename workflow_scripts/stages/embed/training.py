"""The training of a model: epochs of mega-batches of mini-batches (ParaNMT, section 4).

All randomness follows from the seeds and the number of the epoch or mini-batch, so a training that
goes on from a checkpoint ends with the same bits as one that was never interrupted.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import atomic_path
from workflow_scripts.core.progress import INTERVAL_SECONDS, progress_line
from workflow_scripts.core.seeding import generator
from workflow_scripts.encoding.parts import Parts
from workflow_scripts.encoding.tokens import Ragged
from workflow_scripts.stages.embed.loss import hinge_loss
from workflow_scripts.stages.embed.negatives import NONE, Keys, hardest
from workflow_scripts.stages.embed.optimizer import LazyAdam
from workflow_scripts.stages.embed.prepared import Prepared, gather

# Sentences encoded at once where no gradient is needed.
_CHUNK = 1024
# Seconds between two checkpoints; what came after the last one is done again after a kill.
CHECKPOINT_SECONDS = 300.0


class Seeds(NamedTuple):
    """The run's seed and the embedding's own, which tells its repetitions apart."""

    run: int
    repetition: int

    def random(self, purpose: str, *keys: int) -> np.random.Generator:
        """Return the generator for one purpose."""
        return generator(self.run, "embed", purpose, self.repetition, *keys)


def mega_batch_size(settings: dict[str, Any], done: int) -> int:
    """Return the number of mini-batches in the mega-batch that follows `done` mini-batches.

    With annealing the first mega-batch has one. The number grows by one after each `anneal`
    mini-batches.
    """
    largest, anneal = settings["mega_batch"], settings["anneal"]
    return largest if anneal is None else min(largest, 1 + done // anneal)


def scrambled(ragged: Ragged, share: float, random: np.random.Generator) -> Ragged:
    """Shuffle the tokens of a `share` of the sentences, each drawn by itself."""
    ids, lengths = ragged
    chosen = random.random(len(lengths)) < share
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    places = np.arange(len(ids), dtype=np.float64)
    moved = chosen[sentence]
    places[moved] = random.random(int(moved.sum()))
    # Within a sentence by place, which is random where it was chosen.
    return ids[np.lexsort((places, sentence))], lengths


class MegaBatch:
    """The sentences of a mega-batch: references first, then their paraphrases in the same order.

    Attributes:
        pairs: how many.
        tokens: of each encoder.
        keys: of the sentences.
    """

    def __init__(
        self,
        data: Prepared,
        model: Parts,
        chosen: NDArray[np.int64],
        scramble: float,
        random: np.random.Generator,
        device: torch.device,
    ):
        self.pairs = len(chosen)
        sentences = np.concatenate([2 * chosen, 2 * chosen + 1])
        self.tokens: list[Ragged] = []
        for kind, encoder in zip(model.config["tokens"], model.network.encoders, strict=True):
            ragged = data.tokens[kind].of(sentences)
            if scramble and encoder.order_matters:
                ragged = scrambled(ragged, scramble, random)
            self.tokens.append(ragged)
        self._starts = [np.cumsum(lengths) - lengths for _, lengths in self.tokens]
        own, partner = data.keys[sentences], data.keys[sentences ^ 1]
        reference = data.keys[sentences & ~1]
        self.keys = Keys(*(torch.from_numpy(each).to(device) for each in (own, partner, reference)))

    def of(self, sentences: NDArray[np.int64]) -> list[Ragged]:
        """Return the tokens of some of its sentences, of each encoder."""
        return [
            gather(ragged, starts, sentences)
            for ragged, starts in zip(self.tokens, self._starts, strict=True)
        ]


class Training:
    """A model in training, with all that a checkpoint holds.

    Attributes:
        epoch: of the next mega-batch, from 0.
        position: pairs of this epoch that are done.
        updates: mini-batches done.
        history: of each epoch that is done its mean loss, and its score on the development set.
    """

    def __init__(
        self,
        model: Parts,
        data: Prepared,
        settings: dict[str, Any],
        seeds: Seeds,
        device: str = "cpu",
        score: Callable[[Parts], float] | None = None,
    ):
        """Prepare to train `model`, in place.

        Args:
            model: untrained.
            data: the training set.
            settings: `epochs`, `batch`, `mega_batch`, `anneal`, `margin`, `learning_rate`,
                `scramble`, `dropout`, `l2_network`, `l2_vectors`.
            seeds: of all randomness.
            device: for torch.
            score: measures a model on the development set, higher is better. The result is the
                best epoch by this score; without it, the last epoch.

        Raises:
            InputError: the training set is empty.
        """
        if not data.pairs:
            raise InputError("no pair of the training set is left to train on")
        self.model, self._data, self._settings, self._seeds = model, data, settings, seeds
        self._device = torch.device(device)
        self._network = model.network.to(self._device).train()
        # The tables have their own optimizer, which works on the rows of a mini-batch.
        self._network.requires_grad_(False).encoders.requires_grad_(True)
        self._tables = [weights.data for weights in self._network.tables]
        self._anchors = [table.clone() for table in self._tables if settings["l2_vectors"]]
        self._lazy = [LazyAdam(table, settings["learning_rate"]) for table in self._tables]
        self._weights = list(self._network.encoders.parameters())
        self._adam = None
        if self._weights:
            # The gradient of (l2 / 2) |w|² is l2 w: what Adam calls weight decay.
            self._adam = torch.optim.Adam(
                self._weights, lr=settings["learning_rate"], weight_decay=settings["l2_network"]
            )
        self._score = score
        self._best: dict[str, Tensor] | None = None
        self.epoch = self.position = self.updates = 0
        self._ordered = -1, np.empty(0, dtype=np.int64)
        self._loss = 0.0
        self.history: list[dict[str, float]] = []

    # --- checkpoints -----------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return all that `restore` needs to go on with the same bits."""
        return {
            "network": self._network.state_dict(),
            "moments": [(lazy.first, lazy.second) for lazy in self._lazy],
            "adam": self._adam and self._adam.state_dict(),
            "best": self._best,
            "history": self.history,
            "counts": [self.epoch, self.position, self.updates],
            "loss": self._loss,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to where `state` was taken."""
        self._network.load_state_dict(state["network"])
        for lazy, (first, second) in zip(self._lazy, state["moments"], strict=True):
            lazy.first.copy_(first)
            lazy.second.copy_(second)
        if self._adam:
            self._adam.load_state_dict(state["adam"])
        self._best, self.history, self._loss = state["best"], state["history"], state["loss"]
        self.epoch, self.position, self.updates = state["counts"]

    def run(self, checkpoint: Path | None = None, every: float = CHECKPOINT_SECONDS) -> None:
        """Train to the end, from `checkpoint` if there is one.

        Args:
            checkpoint: the file that is written meanwhile.
            every: seconds between two checkpoints.

        Raises:
            InputError: the loss is no longer finite.
        """
        if checkpoint and checkpoint.exists():
            self.restore(torch.load(checkpoint, map_location=self._device, weights_only=True))
        started = reported = saved = time.monotonic()
        total = self._settings["epochs"] * self._data.pairs
        before = self.epoch * self._data.pairs + self.position
        while self.epoch < self._settings["epochs"]:
            self._mega_batch()
            now = time.monotonic()
            if now - reported >= INTERVAL_SECONDS:
                done = self.epoch * self._data.pairs + self.position
                self._report(done - before, total - before, now - started)
                reported = now
            if checkpoint and now - saved >= every:
                with atomic_path(checkpoint) as temporary, temporary.open("wb") as stream:
                    torch.save(self.state(), stream)
                saved = time.monotonic()
        if self._best is not None:
            self._network.load_state_dict(self._best)
        self._network.eval().requires_grad_(False)

    def _report(self, done: int, total: int, elapsed: float) -> None:
        line = progress_line("embed: pairs", done, total, elapsed)
        epochs = self._settings["epochs"]
        loss = self._loss / self.position if self.position else self.history[-1]["loss"]
        print(
            f"{line}, epoch {min(self.epoch + 1, epochs)} of {epochs}, loss {loss:.4f}",
            file=sys.stderr,
            flush=True,
        )

    # --- training --------------------------------------------------------------------------------

    def _mega_batch(self) -> None:
        """Train on the next mega-batch, and end the epoch with its last."""
        settings, pairs = self._settings, self._data.pairs
        size = settings["batch"]
        order = self._order()
        length = size * mega_batch_size(settings, self.updates)
        batch = MegaBatch(
            self._data,
            self.model,
            order[self.position : self.position + length],
            settings["scramble"],
            self._seeds.random("scramble", self.updates),
            self._device,
        )
        negatives = hardest(self._vectors(batch), batch.keys).cpu().numpy()
        for start in range(0, batch.pairs, size):
            self._mini_batch(batch, np.arange(start, min(start + size, batch.pairs)), negatives)
        self.position += batch.pairs
        if self.position == pairs:
            self._end_epoch()

    def _order(self) -> NDArray[np.int64]:
        """Return the order of the pairs in this epoch."""
        epoch, order = self._ordered
        if epoch != self.epoch:
            order = self._seeds.random("order", self.epoch).permutation(self._data.pairs)
            self._ordered = self.epoch, order
        return order

    def _end_epoch(self) -> None:
        entry = {"loss": self._loss / self._data.pairs}
        if not np.isfinite(entry["loss"]):
            raise InputError(
                f"the loss of epoch {self.epoch + 1} is not finite; lower training.learning_rate"
            )
        if self._score:
            self._network.eval()
            entry["development"] = self._score(self.model)
            self._network.train()
            if all(entry["development"] > earlier["development"] for earlier in self.history):
                self._best = {
                    name: value.detach().clone()
                    for name, value in self._network.state_dict().items()
                }
        self.history.append(entry)
        self.epoch, self.position, self._loss = self.epoch + 1, 0, 0.0

    @torch.no_grad()
    def _vectors(self, batch: MegaBatch) -> Tensor:
        """Return the vectors of all sentences, of length 1: (sentences, size)."""
        chunks = (
            np.arange(start, min(start + _CHUNK, 2 * batch.pairs))
            for start in range(0, 2 * batch.pairs, _CHUNK)
        )
        return torch.cat([functional.normalize(self._encode(batch.of(chunk))) for chunk in chunks])

    def _encode(self, ragged: list[Ragged]) -> Tensor:
        return self._network([self._tensors(ids) for ids in ragged])

    def _tensors(self, ragged: Ragged) -> tuple[Tensor, Tensor]:
        ids, lengths = (torch.from_numpy(array).to(self._device) for array in ragged)
        return ids, lengths

    def _mini_batch(
        self, batch: MegaBatch, first: NDArray[np.int64], negatives: NDArray[np.int64]
    ) -> None:
        """Make one update with the pairs `first` of a mega-batch."""
        second = first + batch.pairs
        roles = (first, second, negatives[first], negatives[second])
        # A sentence in several roles is encoded once.
        sentences = np.unique(np.concatenate(roles))
        sentences = sentences[sentences != NONE]
        tokens, rows, gathered = [], [], []
        for table, ragged in zip(self._tables, batch.of(sentences), strict=True):
            ids, lengths = self._tensors(ragged)
            touched, places = torch.unique(ids, return_inverse=True)
            rows.append(touched)
            gathered.append(table[touched].requires_grad_())
            tokens.append((places, lengths))
        if self._settings["dropout"]:
            random = self._seeds.random("dropout", self.updates)
            torch.manual_seed(int(random.integers(2**63)))
        vectors = self._network(tokens, gathered, self._settings["dropout"])
        indices = [self._places(sentences, role) for role in roles]
        loss = hinge_loss(
            indices[0], indices[1], (indices[2], indices[3]), vectors, self._settings["margin"]
        )
        loss.backward()
        self.updates += 1
        for number, (touched, given) in enumerate(zip(rows, gathered, strict=True)):
            gradient = given.grad
            if self._settings["l2_vectors"]:
                pull = given.detach() - self._anchors[number][touched]
                gradient = gradient.add(pull, alpha=self._settings["l2_vectors"])
            self._lazy[number].step(touched, gradient, self.updates)
        if self._adam:
            self._adam.step()
            self._adam.zero_grad()
        self._loss += float(loss.detach()) * len(first)

    def _places(self, sentences: NDArray[np.int64], wanted: NDArray[np.int64]) -> Tensor:
        """Return where in `sentences`, sorted, the `wanted` ones are; -1 stays -1."""
        places = np.where(wanted == NONE, NONE, np.searchsorted(sentences, wanted))
        return torch.from_numpy(places).to(self._device)
