"""Compute the probability of every paraphrase of a shard to be a reference (BT17 5.6.1)."""

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray

from workflow_scripts.core.cli import run
from workflow_scripts.stages.filter.classifier import Classifier
from workflow_scripts.stages.filter.values import column_values


def main(argv: list[str] | None = None) -> None:
    """Compute the probability of every paraphrase of a shard to be a reference."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--input", type=Path, required=True, help="shard of pair columns")
    parser.add_argument("--model", type=Path, required=True, help="folder of the classifier")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args(argv)
    torch.set_num_threads(1)
    classifier = Classifier.load(arguments.model)

    def values(batch: pa.RecordBatch) -> NDArray[np.float32]:
        paraphrases = batch.column("paraphrase").to_pylist()
        found = classifier.probabilities(list(map(classifier.split, paraphrases)))
        learnt = [classifier.has_learnt(each) for each in batch.column("reference").to_pylist()]
        return np.where(learnt, np.float32(np.nan), found)

    sides = ["reference", "paraphrase"]
    column_values(arguments.input, arguments.output, sides, values, "classifier")


if __name__ == "__main__":
    run(main)
