"""The training of a model: epochs of mega-batches of mini-batches (ParaNMT, section 4).

All randomness follows from the seeds and the number of the epoch or mini-batch, so a training that
goes on from a checkpoint ends with the same bits as one that was never interrupted.
"""

from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.seeding import generator
from workflow_scripts.core.training.loop import TrainingLoop
from workflow_scripts.encoding.parts import Parts
from workflow_scripts.encoding.tokens import Ragged
from workflow_scripts.stages.embed.loss import hinge_loss
from workflow_scripts.stages.embed.negatives import NONE, Keys, hardest
from workflow_scripts.stages.embed.optimizer import LazyAdam
from workflow_scripts.stages.embed.prepared import Prepared, gather

# Sentences encoded at once where no gradient is needed.
_CHUNK = 1024


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
        self.keys = Keys(*(torch.from_numpy(keys).to(device) for keys in (own, partner, reference)))

    def of(self, sentences: NDArray[np.int64]) -> list[Ragged]:
        """Return the tokens of some of its sentences, of each encoder."""
        return [
            gather(ragged, starts, sentences)
            for ragged, starts in zip(self.tokens, self._starts, strict=True)
        ]


class Training(TrainingLoop[NDArray[np.int64]]):
    """A model in training; a batch of the loop is a mega-batch, given as the numbers of its pairs.

    Attributes:
        epoch: of the next mega-batch, from 0.
        position: pairs of this epoch that are done.
        updates: mini-batches done.
        history: of each epoch that is done its mean loss, and its score on the development set.
    """

    unit = "rows"

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
        super().__init__("embed: pairs", settings["epochs"] * data.pairs, device)
        self.model, self._data, self._settings, self._seeds = model, data, settings, seeds
        self.network = model.network.to(self.device).train()
        # The tables have their own optimizer, which works on the rows of a mini-batch.
        self.network.requires_grad_(False).encoders.requires_grad_(True)
        self._tables = [weights.data for weights in self.network.tables]
        self._anchors = [table.clone() for table in self._tables if settings["l2_vectors"]]
        self._lazy = [LazyAdam(table, settings["learning_rate"]) for table in self._tables]
        self._trained = list(self.network.encoders.parameters())
        self._adam = None
        if self._trained:
            # The gradient of (l2 / 2) |w|² is l2 w: what Adam calls weight decay.
            self._adam = torch.optim.Adam(
                self._trained, lr=settings["learning_rate"], weight_decay=settings["l2_network"]
            )
        self._measure = score
        self.score = itemgetter("development") if score else None
        self.epoch = self.position = 0

    def state(self) -> dict[str, Any]:
        """Return the network, the moments of both optimizers, the best epoch and the counts."""
        return {
            "network": self.network.state_dict(),
            "moments": [(lazy.first, lazy.second) for lazy in self._lazy],
            "adam": self._adam and self._adam.state_dict(),
            "best": self.best,
            "history": self.history,
            "counts": [self.epoch, self.position, self.updates],
            "loss": self._loss_sum,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to where `state` was taken."""
        self.network.load_state_dict(state["network"])
        for lazy, (first, second) in zip(self._lazy, state["moments"], strict=True):
            lazy.first.copy_(first)
            lazy.second.copy_(second)
        if self._adam:
            self._adam.load_state_dict(state["adam"])
        self.best, self.history = state["best"], state["history"]
        self.epoch, self.position, self.updates = state["counts"]
        self.add_loss(state["loss"], self.position)

    def done(self) -> tuple[int, int]:
        """Return the pairs that are done, and those of all epochs."""
        return self.epoch * self._data.pairs + self.position, self.total

    def about(self) -> str:
        """Return the epoch and its mean loss."""
        epochs = self._settings["epochs"]
        return f", epoch {min(self.epoch + 1, epochs)} of {epochs}{super().about()}"

    def batches(self) -> Iterator[NDArray[np.int64]]:
        """Yield the pairs of the mega-batches that are left."""
        while self.epoch < self._settings["epochs"]:
            order = self._seeds.random("order", self.epoch).permutation(self._data.pairs)
            while self.position < len(order):
                size = self._settings["batch"] * mega_batch_size(self._settings, self.updates)
                yield order[self.position : self.position + size]
            self._end_epoch()
        self.network.eval().requires_grad_(False)

    def update(self, batch: NDArray[np.int64]) -> None:
        """Train on a mega-batch, mini-batch by mini-batch."""
        size = self._settings["batch"]
        chosen = MegaBatch(
            self._data,
            self.model,
            batch,
            self._settings["scramble"],
            self._seeds.random("scramble", self.updates),
            self.device,
        )
        negatives = hardest(self._vectors(chosen), chosen.keys).cpu().numpy()
        for start in range(0, chosen.pairs, size):
            self._mini_batch(chosen, np.arange(start, min(start + size, chosen.pairs)), negatives)
        self.position += chosen.pairs

    def _end_epoch(self) -> None:
        entry = {"loss": self.mean_loss()}
        if not np.isfinite(entry["loss"]):
            raise InputError(
                f"the loss of epoch {self.epoch + 1} is not finite; lower training.learning_rate"
            )
        if self._measure:
            self.network.eval()
            entry["development"] = self._measure(self.model)
            self.network.train()
        self.add_point(entry)
        self.epoch, self.position = self.epoch + 1, 0

    @torch.no_grad()
    def _vectors(self, batch: MegaBatch) -> Tensor:
        """Return the vectors of all sentences, of length 1: (sentences, size)."""
        chunks = (
            np.arange(start, min(start + _CHUNK, 2 * batch.pairs))
            for start in range(0, 2 * batch.pairs, _CHUNK)
        )
        tokens = ([self._tensors(ids) for ids in batch.of(chunk)] for chunk in chunks)
        return torch.cat([functional.normalize(self.network(each)) for each in tokens])

    def _tensors(self, ragged: Ragged) -> tuple[Tensor, Tensor]:
        ids, lengths = (torch.from_numpy(array).to(self.device) for array in ragged)
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
        vectors = self.network(tokens, gathered, self._settings["dropout"])
        indices = [self._places(sentences, role) for role in roles]
        loss = hinge_loss(
            indices[0], indices[1], (indices[2], indices[3]), vectors, self._settings["margin"]
        )
        loss.backward()
        self.updates += 1
        for number, (touched, leaf) in enumerate(zip(rows, gathered, strict=True)):
            gradient = leaf.grad
            if self._settings["l2_vectors"]:
                pull = leaf.detach() - self._anchors[number][touched]
                gradient = gradient.add(pull, alpha=self._settings["l2_vectors"])
            self._lazy[number].step(touched, gradient, self.updates)
        if self._adam:
            self._adam.step()
            self._adam.zero_grad()
        self.add_loss(float(loss.detach()) * len(first), len(first))

    def _places(self, sentences: NDArray[np.int64], wanted: NDArray[np.int64]) -> Tensor:
        """Return where in `sentences`, sorted, the `wanted` ones are; -1 stays -1."""
        places = np.where(wanted == NONE, NONE, np.searchsorted(sentences, wanted))
        return torch.from_numpy(places).to(self.device)
