"""Compute for every pair of a shard the probability that it is one of paraphrases.

An encoder of the run says it (docs/encoder.md), of the reference and the paraphrase in this order.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModelForSequenceClassification

from workflow_scripts.core.cli import run
from workflow_scripts.core.device import choose_device
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.encoding.encoder_tokens import tokenised
from workflow_scripts.encoding.interface import RECORD
from workflow_scripts.encoding.pretrained import open_model, open_tokenizer
from workflow_scripts.encoding.probabilities import probabilities
from workflow_scripts.stages.filter.values import write_values

# Pairs that are sorted by length together, and those that the encoder reads at once.
BATCH = 4096
_READ = {"batch": 128, "precision": "float32"}


def write_scores(input_path: Path, folder: Path, output: Path, device: str) -> None:
    """Stream a `pair_columns` shard into a `pair_values` shard with its record.

    Args:
        input_path: the pairs.
        folder: of the encoder, which is verified.
        output: the shard of values.
        device: for torch.
    """
    verify(folder / RECORD)
    tokenizer = open_tokenizer(folder)
    model: Any = open_model(AutoModelForSequenceClassification, folder).to(device)

    def values(references: list[str], paraphrases: list[str]) -> NDArray[np.float64]:
        tokens = tokenised(tokenizer, references, paraphrases, tokenizer.model_max_length)
        return probabilities(model, tokens, _READ, device)

    write_values(input_path, output, values, "encoder", BATCH)


def main(argv: list[str] | None = None) -> None:
    """Compute the probability of every pair of a shard that it is one of paraphrases."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--input", type=Path, required=True, help="shard of pair columns")
    parser.add_argument("--model", type=Path, required=True, help="folder of encoder.identify")
    parser.add_argument("--device", default="auto", help="cpu, cuda, or auto")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args(argv)
    torch.set_num_threads(arguments.threads)
    device = str(choose_device(arguments.device))
    write_scores(arguments.input, arguments.model, arguments.output, device)


if __name__ == "__main__":
    run(main)
