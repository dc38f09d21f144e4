"""Compute for every pair of a shard the probability that it is one of paraphrases.

An encoder of the run says it (docs/encoder.md), of the reference and the paraphrase in this order.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModelForSequenceClassification

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device, choose_device
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.encoding.encoder_tokens import tokenised
from workflow_scripts.encoding.interface import RECORD
from workflow_scripts.encoding.model_outputs import probabilities
from workflow_scripts.encoding.pretrained import open_model, open_tokenizer
from workflow_scripts.stages.filter.values import write_values

# Pairs that are sorted by length together, and those that the encoder reads at once.
BATCH = 4096
_READ = {"batch": 128, "precision": "float32"}


def write_scores(
    pairs: Path, model: Path, output: Path, device: Device = "auto", threads: int = 1
) -> None:
    """Compute the probability of every pair of a shard that it is one of paraphrases.

    Args:
        pairs: the `pair_columns` shard.
        model: folder of the encoder, which is verified.
        output: the `pair_values` shard; its record stands beside it.
    """
    torch.set_num_threads(threads)
    place = str(choose_device(device))
    verify(model / RECORD)
    tokenizer = open_tokenizer(model)
    encoder: Any = open_model(AutoModelForSequenceClassification, model).to(place)

    def values(references: list[str], paraphrases: list[str]) -> NDArray[np.float64]:
        tokens = tokenised(tokenizer, references, paraphrases, tokenizer.model_max_length)
        return probabilities(encoder, tokens, _READ, place)

    write_values(pairs, output, values, "encoder", BATCH)


main = command(write_scores, __name__)
