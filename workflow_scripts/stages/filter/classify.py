"""Compute the probability of every paraphrase of a shard to be a reference (BT17 5.6.1)."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray

from workflow_scripts.core.command import command
from workflow_scripts.stages.filter.classifier import Classifier
from workflow_scripts.stages.filter.values import BatchValues, by_models, column_values


def probabilities(model: Path) -> BatchValues:
    """Return what the classifier in a folder says of pairs; nothing of those it learnt from."""
    classifier = Classifier.load(model)

    def values(batch: pa.RecordBatch) -> NDArray[np.float32]:
        paraphrases = batch.column("paraphrase").to_pylist()
        probabilities = classifier.probabilities(list(map(classifier.split, paraphrases)))
        learnt = list(map(classifier.has_learnt, batch.column("reference").to_pylist()))
        return np.where(learnt, np.float32(np.nan), probabilities)

    return values


def write_probabilities(
    pairs: Path, model: Path, output: Path, corpora: list[str] | None = None
) -> None:
    """Compute the probability of every paraphrase of a shard to be a reference.

    Args:
        pairs: the `pair_columns` shard.
        model: folder of the classifier, or of those of corpora.
        output: the `pair_values` shard; its record stands beside it.
        corpora: those that have a classifier each.
    """
    torch.set_num_threads(1)
    values = by_models(model, corpora or [], probabilities)
    column_values(pairs, output, ["reference", "paraphrase"], values, "classifier")


main = command(write_probabilities, __name__)
