"""Train a classifier of a system: its references against its paraphrases (BT17 5.6.1)."""

import argparse
import copy
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from workflow_scripts.core.cli import json_argument, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.manifest import shard_paths, verify, write_record
from workflow_scripts.core.progress import progress
from workflow_scripts.core.rounding import DECIMALS
from workflow_scripts.core.rows import PairColumnsRow
from workflow_scripts.core.seeding import fraction, generator
from workflow_scripts.core.tables import read_rows
from workflow_scripts.core.text import words
from workflow_scripts.filter.classifier import RECORD, Classifier, frequent_words
from workflow_scripts.filter.sample import Place, last_within, place

Pair = tuple[list[str], list[str]]  # the words of a reference and of a paraphrase


class Split(NamedTuple):
    """Pairs to train and to validate on, which have no reference id in common."""

    training: list[Pair]
    validation: list[Pair]


def split(rows: Iterable[PairColumnsRow], config: dict[str, Any]) -> Split:
    """Divide pairs by the ids of their references, seeded.

    Raises:
        InputError: one of the two has none.
    """
    result = Split([], [])
    for row in rows:
        pair = words(row["reference"]), words(row["paraphrase"])
        number = fraction(config["seed"], "classifier", row["id"])
        (result.validation if number < config["validation"] else result.training).append(pair)
    if not all(result):
        raise InputError(
            f"classifier: {len(result.training)} pairs to train on and {len(result.validation)} "
            "for validation; it needs more pairs, or another share for validation"
        )
    return result


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


def train(pairs: Split, config: dict[str, Any]) -> tuple[Classifier, dict[str, Any]]:
    """Return the classifier with the best validation accuracy of all epochs, and its metrics.

    References are the positive class. The same pairs and config give the same weights.
    """
    torch.manual_seed(int(generator(config["seed"], "classifier").integers(2**62)))
    vocabulary = frequent_words(
        (side for pair in pairs.training for side in pair), config["vocabulary"]
    )
    classifier = Classifier(config["network"], config["size"], vocabulary)
    optimizer = torch.optim.Adam(classifier.network.parameters(), lr=config["learning_rate"])
    history: list[dict[str, float]] = []
    best: dict[str, float] = {"accuracy": -math.inf}
    weights = classifier.network.state_dict()
    for epoch in range(1, config["epochs"] + 1):
        classifier.network.train()
        epoch_batches = batches(pairs.training, config["batch"], config["seed"], epoch)
        desc = f"classifier, epoch {epoch}"
        for batch in progress(epoch_batches, len(pairs.training), desc, len):
            sentences = [reference for reference, _ in batch]
            sentences += [paraphrase for _, paraphrase in batch]
            labels = (torch.arange(len(sentences)) < len(batch)).float()
            logits = classifier.network(*classifier.batch(sentences))
            optimizer.zero_grad()
            binary_cross_entropy_with_logits(logits, labels).backward()
            optimizer.step()
        found = {"epoch": epoch, **accuracy(classifier, pairs.validation)}
        history.append(found)
        if found["accuracy"] > best["accuracy"]:
            best, weights = found, copy.deepcopy(classifier.network.state_dict())
    classifier.network.load_state_dict(weights)
    return classifier, {
        "training_pairs": len(pairs.training),
        "validation_pairs": len(pairs.validation),
        "vocabulary": len(vocabulary),
        "validation": best,
        "epochs": history,
    }


def sampled(paths: list[Path], config: dict[str, Any]) -> Iterator[PairColumnsRow]:
    """Yield a seeded sample of the pairs of `pair_columns` shards."""

    def rows(*more: str) -> Iterator[tuple[Place, PairColumnsRow]]:
        for path in paths:
            for row in read_rows(path, "pair_columns", ["id", "rank", *more]):
                yield place(config["seed"], row["id"], row["rank"]), row

    last = last_within(lambda: ((found, 1) for found, _ in rows()), config["pairs"])
    for found, row in progress(rows("reference", "paraphrase"), desc="classifier, pairs"):
        if found <= last:
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


def train_column(folder: Path, shards: int, output: Path, config: dict[str, Any]) -> None:
    """Write the classifier of the `pair_columns` shards of a folder, with its record."""
    torch.set_num_threads(1)
    paths = shard_paths(folder, shards)
    for path in paths:
        verify(path)
    pairs = split(sampled(paths, config), config)
    with _deterministic():
        classifier, metrics = train(pairs, config)
    files = classifier.save(output, metrics)
    # It counts no rows: those of the shards are counted where they get their values.
    write_record(output / RECORD, 0, 0, {}, extra=metrics["validation"], files=files)


def main(argv: list[str] | None = None) -> None:
    """Train a classifier of references against paraphrases."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json_argument, required=True, help="JSON")
    parser.add_argument("--folder", type=Path, required=True, help="with shards of pair columns")
    parser.add_argument("--shards", type=int, required=True)
    parser.add_argument("--output", type=Path, required=True, help="folder of the model")
    arguments = parser.parse_args(argv)
    train_column(arguments.folder, arguments.shards, arguments.output, arguments.config)


if __name__ == "__main__":
    run(main)
