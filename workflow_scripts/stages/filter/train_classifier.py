"""Train a classifier of a system: its references against its paraphrases (BT17 5.6.1).

Without `negatives` in the configuration every pair of a sample is an example. With it an example is
a reference with all its paraphrases, of which one is the negative: a random one, or the one that
the network finds most like a reference. The sample is then of references, divided exactly, and the
best point of the grid of `negatives` and `l2` is chosen on the validation examples.
"""

import math
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import shard_paths, verify, write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairColumnsRow, ScoredRow
from workflow_scripts.core.files.vectors import vectors_of
from workflow_scripts.core.progress import progress
from workflow_scripts.core.seeding import fraction, generator
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.core.text.normalisation import letters_and_digits
from workflow_scripts.core.text.word_tokens import DROPPED, TOKENISERS
from workflow_scripts.core.training.epochs import EpochLoop
from workflow_scripts.stages.filter.classifier import Classifier, frequent_words
from workflow_scripts.stages.filter.classifier_files import RECORD
from workflow_scripts.stages.filter.sample import (
    Place,
    last_distinct,
    last_within,
    place,
    reference_place,
)

Pair = tuple[list[str], list[str]]  # the words of a reference and of a paraphrase
RANDOM, HARDEST = "random", "hardest"


class Example(NamedTuple):
    """A reference and the paraphrases that may be its negative, each as words."""

    reference: list[str]
    paraphrases: list[list[str]]


class Split(NamedTuple):
    """Examples to train, to validate and to test on, which have no reference id in common.

    Attributes:
        learnt: the place of the last reference that the classifier is trained or chosen on, in
            the seeded order of references; None where that is not known.
    """

    training: list[Example]
    validation: list[Example]
    test: list[Example]
    learnt: Place | None = None


def split(rows: Iterable[PairColumnsRow], config: dict[str, Any]) -> Split:
    """Divide pairs by the ids of their references, seeded; each pair is an example.

    Raises:
        InputError: there is none to train or to validate on.
    """
    result, words = Split([], [], []), TOKENISERS[config.get("punctuation", DROPPED)]
    for row in rows:
        example = Example(words(row["reference"]), [words(row["paraphrase"])])
        number = fraction(config["seed"], "classifier", row["id"])
        (result.validation if number < config["validation"] else result.training).append(example)
    return _checked(result)


def split_references(rows: Iterable[PairColumnsRow], config: dict[str, Any]) -> Split:
    """Divide references with all their paraphrases, in seeded order: the last ones are for tests.

    Equal references are one, with the paraphrases of all, so that none is learnt and tested on.

    Args:
        rows: the pairs.
        config: `validation` and `test` are the shares of the references.

    Raises:
        InputError: there is none to train, to validate or, with a share, to test on.
    """
    tokens = TOKENISERS[config.get("punctuation", DROPPED)]

    def words(text: str) -> list[str]:
        # A word that stands in millions of sentences is one in memory.
        return list(map(sys.intern, tokens(text)))

    at: dict[Place, Example] = {}
    for row in rows:
        here = reference_place(config["seed"], row["reference"])
        example = at.setdefault(here, Example(words(row["reference"]), []))
        example.paraphrases.append(words(row["paraphrase"]))
    ordered = sorted(at.items(), key=itemgetter(0))
    validation, test = (round(config.get(key, 0) * len(ordered)) for key in ("validation", "test"))
    examples = [example for _, example in ordered]
    training = len(ordered) - validation - test
    known = training + validation
    parts = examples[:training], examples[training:known], examples[known:]
    result = Split(*parts, ordered[known - 1][0] if known > 0 else None)
    if config.get("test", 0) and not result.test:
        raise InputError(
            f"classifier: none of {len(ordered)} references is left to test on; it needs more, or "
            "a greater share for tests"
        )
    return _checked(result)


def _checked(result: Split) -> Split:
    if not (result.training and result.validation):
        raise InputError(
            f"classifier: {len(result.training)} pairs to train on and {len(result.validation)} "
            "for validation; it needs more pairs, or another share for validation"
        )
    return result


def pairs_of(examples: list[Example], seed: int, purpose: str) -> list[Pair]:
    """Return each example with a random one of its paraphrases, the same for the same seed."""
    random = generator(seed, "classifier", "negatives", purpose)
    return [
        (
            example.reference,
            example.paraphrases[int(random.integers(len(example.paraphrases)))],
        )
        for example in examples
    ]


def hardest_pairs(classifier: Classifier, examples: list[Example]) -> list[Pair]:
    """Return each example with the paraphrase that the classifier finds most like a reference."""
    flat = [paraphrase for example in examples for paraphrase in example.paraphrases]
    all_probabilities = classifier.probabilities(flat)
    ends = np.cumsum([len(example.paraphrases) for example in examples])
    places = [int(part.argmax()) for part in np.split(all_probabilities, ends[:-1])]
    return [
        (example.reference, example.paraphrases[place])
        for example, place in zip(examples, places, strict=True)
    ]


def batches(pairs: list[Pair], size: int, seed: int, epoch: int) -> Iterator[list[Pair]]:
    """Yield the pairs in random order, `size` sentences at a time."""
    order = generator(seed, "classifier", "epoch", epoch).permutation(len(pairs))
    step = max(size // 2, 1)
    for start in range(0, len(order), step):
        yield [pairs[index] for index in order[start : start + step]]


def accuracy(classifier: Classifier, pairs: list[Pair]) -> dict[str, float]:
    """Return the shares of sentences classified correctly: of all, references, paraphrases."""
    references = classifier.probabilities([reference for reference, _ in pairs]) > 0.5
    paraphrases = classifier.probabilities([paraphrase for _, paraphrase in pairs]) <= 0.5
    shares = float(references.mean()), float(paraphrases.mean())
    return {
        "accuracy": round(sum(shares) / 2, DECIMALS),
        "references": round(shares[0], DECIMALS),
        "paraphrases": round(shares[1], DECIMALS),
    }


class Trained(NamedTuple):
    """A classifier at its best epoch.

    Attributes:
        classifier: with the weights of that epoch.
        best: the validation accuracies of that epoch.
        epochs: those of all.
    """

    classifier: Classifier
    best: dict[str, float]
    epochs: list[dict[str, float]]


def train_point(
    examples: Split,
    validation: list[Pair],
    vocabulary: list[str],
    vectors: dict[str, NDArray[np.float32]],
    config: dict[str, Any],
    negatives: str,
    l2: float,
) -> Trained:
    """Train one classifier, with one choice of negatives and one weight of regularisation.

    Args:
        examples: of which `training` counts.
        validation: the pairs that tell the best epoch.
        vocabulary: the words that have a vector.
        vectors: the first ones of some words; others begin at random.
        config: of the column.
        negatives: `RANDOM`, or `HARDEST` by the network as it is when an epoch begins.
        l2: weight of the squares of all word vectors in the loss.
    """
    torch.manual_seed(int(generator(config["seed"], "classifier").integers(2**62)))
    punctuation = config.get("punctuation", DROPPED)
    classifier = Classifier(config["network"], config["size"], vocabulary, punctuation)
    classifier.start_from(vectors)
    network, epochs = classifier.network, list[dict[str, float]]()
    pairs = pairs_of(examples.training, config["seed"], "training")

    def epoch_batches(epoch: int) -> Iterator[list[Pair]]:
        learnt = hardest_pairs(classifier, examples.training) if negatives == HARDEST else pairs
        return batches(learnt, config["batch"], config["seed"], epoch + 1)

    def loss(batch: list[Pair]) -> Tensor:
        sentences = [*(reference for reference, _ in batch), *(other for _, other in batch)]
        labels = (torch.arange(len(sentences)) < len(batch)).float()
        logits = network(*classifier.batch(sentences))
        entropy = binary_cross_entropy_with_logits(logits, labels)
        return entropy + l2 * network.embedding.weight.square().sum() if l2 else entropy

    def measure() -> dict[str, float]:
        epochs.append({"epoch": len(epochs) + 1, **accuracy(classifier, validation)})
        return epochs[-1]

    training = EpochLoop(
        network,
        torch.optim.Adam(network.parameters(), lr=config["learning_rate"]),
        epoch_batches,
        loss,
        epochs=config["epochs"],
        per_epoch=-(-len(pairs) // max(config["batch"] // 2, 1)),
        desc="classifier",
        measure=measure,
        largest=math.inf,
    )
    training.score = itemgetter("accuracy")
    training.run()
    return Trained(classifier, epochs[training.best_point()], epochs)


def train(examples: Split, config: dict[str, Any]) -> tuple[Classifier, dict[str, Any]]:
    """Return the classifier that is best on the validation examples, and its metrics.

    It is the best of all epochs and of all points of the grid; the first one if several are equal.
    References are the positive class. The same examples and config give the same weights.
    """
    sentences = (
        side
        for example in examples.training
        for paraphrase in example.paraphrases
        for side in (example.reference, paraphrase)
    )
    vocabulary = frequent_words(sentences, config["vocabulary"])
    vectors: dict[str, NDArray[np.float32]] = {}
    if config.get("vectors"):
        vectors, _ = vectors_of(
            vocabulary, config["vectors"], config["size"], config["vocabulary"], "classifier.size"
        )
    validation = pairs_of(examples.validation, config["seed"], "validation")
    choices = config.get("negatives") or [RANDOM]
    points = list(product(choices, config.get("l2") or [0]))
    trained = [
        train_point(examples, validation, vocabulary, vectors, config, *point) for point in points
    ]
    # Of several that are equally good, max takes the first.
    number = max(range(len(trained)), key=lambda index: trained[index].best["accuracy"])
    best, (negatives, l2) = trained[number], points[number]
    metrics: dict[str, Any] = {
        "training_pairs": len(examples.training),
        "validation_pairs": len(examples.validation),
        "vocabulary": len(vocabulary),
        "validation": best.best,
        "epochs": best.epochs,
    }
    if vectors:
        metrics["vectors"] = len(vectors)
    if config.get("negatives") or config.get("l2"):
        grid = [
            {"negatives": point[0], "l2": point[1], "validation": outcome.best}
            for point, outcome in zip(points, trained, strict=True)
        ]
        metrics |= {"negatives": negatives, "l2": l2, "grid": grid}
    if examples.test:
        test = pairs_of(examples.test, config["seed"], "test")
        metrics |= {"test_pairs": len(test), "test": accuracy(best.classifier, test)}
    if examples.learnt:
        best.classifier.learnt(config["seed"], examples.learnt)
    return best.classifier, metrics


class Pools(NamedTuple):
    """Where the examples come from.

    Attributes:
        shards: the pairs, `pair_columns` shards.
        corpus: the only one that counts, if there is one.
        candidates: `scored` shards of the same references, if negatives are of all candidates.
    """

    shards: list[Path]
    corpus: str | None = None
    candidates: list[Path] | None = None

    def rows(self, *more: str) -> Iterator[PairColumnsRow]:
        """Yield the pairs, with their id, rank, reference and more columns."""
        columns = ["id", "rank", "reference", *more]
        pairs = self._of_candidates() if self.candidates else self._of_shards(columns)
        for row in pairs:
            if self.corpus in (None, row["id"].partition(":")[0]):
                yield row

    def _of_shards(self, columns: list[str]) -> Iterator[PairColumnsRow]:
        for path in self.shards:
            yield from read_rows(path, PairColumnsRow, columns)

    def _of_candidates(self) -> Iterator[Any]:
        """Yield all candidates but copies of the reference, as `select` knows them."""
        for path in self.candidates or []:
            for row in read_rows(path, ScoredRow, ["id", "reference", "candidates"]):
                key = letters_and_digits(row["reference"])
                pair = {"id": row["id"], "reference": row["reference"]}
                for rank, candidate in enumerate(row["candidates"], start=1):
                    if letters_and_digits(candidate["text"]) != key:
                        yield {**pair, "rank": rank, "paraphrase": candidate["text"]}


def sampled(pools: Pools, config: dict[str, Any]) -> Iterator[PairColumnsRow]:
    """Yield a seeded sample of pairs; with `negatives` of different references, with all pairs."""
    by_reference = bool(config.get("negatives"))

    def rows(*more: str) -> Iterator[tuple[Place, PairColumnsRow]]:
        for row in pools.rows(*more):
            if by_reference:
                yield reference_place(config["seed"], row["reference"]), row
            else:
                yield place(config["seed"], row["id"], row["rank"]), row

    if by_reference:
        last = last_distinct((here for here, _ in rows()), config["pairs"])
    else:
        last = last_within(lambda: ((here, 1) for here, _ in rows()), config["pairs"])
    for here, row in progress(rows("paraphrase"), desc="classifier, pairs"):
        if here <= last:
            yield row


@contextmanager
def _deterministic() -> Iterator[None]:
    """Have torch take algorithms in the block that give the same result again."""
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


def train_column(
    config: dict[str, Any],
    folder: Path,
    shards: int,
    output: Path,
    inputs: dict[str, str] | None = None,
    corpus: str | None = None,
    candidates: Path | None = None,
) -> None:
    """Train a classifier of references against paraphrases.

    Args:
        folder: with `pair_columns` shards.
        output: folder of the model; its record `model.json` stands in it.
        corpus: the only one whose references it learns from.
        candidates: folder with as many `scored` shards, where negatives are of all candidates.
    """
    torch.set_num_threads(1)
    scored = shard_paths(candidates, shards) if candidates else None
    pools = Pools(shard_paths(folder, shards), corpus, scored)
    for path in scored or pools.shards:
        verify(path)
    divide = split_references if config.get("negatives") else split
    examples = divide(sampled(pools, config), config)
    with unchanged(inputs or {}), _deterministic():
        classifier, metrics = train(examples, config)
    files = classifier.save(output, metrics)
    # It counts no rows: those of the shards are counted where they get their values.
    write_record(output / RECORD, 0, 0, {}, extra=metrics["validation"], files=files)


main = command(train_column, __name__)
