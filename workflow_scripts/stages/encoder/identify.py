"""Tune an encoder to tell paraphrases from neighbours: pBERT (ParaBank 2, section 3.8)."""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from torch import Tensor

from workflow_scripts.core.cli import add_inputs, json_argument, run
from workflow_scripts.core.device import choose_device
from workflow_scripts.core.files.file_lock import locked
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import sha256, verify
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import EncoderPairRow
from workflow_scripts.core.seeding import generator
from workflow_scripts.core.training.loop import CHECKPOINT_SECONDS
from workflow_scripts.stages.encoder.encoder_tokens import Tokens, tokenised
from workflow_scripts.stages.encoder.identification_pairs import (
    DEV,
    NEIGHBOUR,
    PARAPHRASE,
    RANDOM,
    RECORD,
    TRAIN,
)
from workflow_scripts.stages.encoder.models import file_hashes, longest, open_model, open_tokenizer
from workflow_scripts.stages.encoder.probabilities import probabilities
from workflow_scripts.stages.encoder.publishing import CHECKPOINT, add_training_options, publish
from workflow_scripts.stages.encoder.results import RECORD as MODEL
from workflow_scripts.stages.encoder.training import Fitting
from workflow_scripts.stages.judge.sentence_vectors import encoder_folder

# The classes by their numbers.
LABELS = {0: "other", 1: "paraphrase"}


class Labelled(NamedTuple):
    """Pairs as an encoder sees them.

    Attributes:
        tokens: of the pairs.
        labels: 1 for a paraphrase, shape (pairs,).
        kinds: how the second sentence of each was found.
        cosines: of the two under the embedding that found it.
    """

    tokens: Tokens
    labels: NDArray[np.int64]
    kinds: NDArray[np.str_]
    cosines: NDArray[np.float32]

    def inputs(self, items: NDArray[np.int64], epoch: int) -> dict[str, Tensor]:
        """Return what a model is called with in training."""
        return self.tokens.batch(items) | {"labels": torch.from_numpy(self.labels[items])}


def labelled(path: Path, tokenizer: Any, most: int) -> Labelled:
    """Return the pairs of a file; see `pairs.write`."""
    rows = list(read_rows(path, EncoderPairRow))
    first, second = ([row[side] for row in rows] for side in ("first", "second"))
    return Labelled(
        tokenised(tokenizer, first, second, most),
        np.array([row["label"] for row in rows], np.int64),
        np.array([row["kind"] for row in rows]),
        np.array([row["cosine"] for row in rows], np.float32),
    )


def measures(
    labels: NDArray[np.int64], values: NDArray[Any], threshold: float
) -> dict[str, float | int]:
    """Return accuracy and F1 of paraphrases at a threshold, and the area under the ROC curve."""
    decided = values >= threshold
    return {
        "pairs": len(labels),
        "accuracy": float(accuracy_score(labels, decided)),
        "f1": float(f1_score(labels, decided)),
        "auc": float(roc_auc_score(labels, values)),
    }


def by_negatives(pairs: Labelled, values: NDArray[Any]) -> dict[str, dict[str, Any]]:
    """Return the measures of probabilities: paraphrases against each kind of negatives.

    `cosine_auc` is what the cosine of the embedding that found the negatives reaches.
    """
    found = {}
    for kind in (NEIGHBOUR, RANDOM):
        chosen = np.isin(pairs.kinds, (PARAPHRASE, kind))
        if not (pairs.kinds[chosen] == kind).any():
            continue
        labels = pairs.labels[chosen]
        cosine = float(roc_auc_score(labels, pairs.cosines[chosen]))
        found[kind] = {**measures(labels, values[chosen], 0.5), "cosine_auc": cosine}
    return found


def train(
    config: dict[str, Any],
    base: Path,
    pairs: Path,
    work: Path,
    output: Path,
    device: str,
    every: float = CHECKPOINT_SECONDS,
) -> None:
    """Bring the tuning to its end, from wherever it stands, and publish the folder.

    Args:
        config: `training`, `max_tokens`, `seed`.
        base: the folder of the encoder that is tuned.
        pairs: the folder of `pairs.mine`.
        work: outlives kills.
        output: the folder.
        device: for torch.
        every: seconds between two checkpoints.

    Raises:
        InputError: the encoder can't be read, or the pairs are damaged.
    """
    from transformers import AutoModelForSequenceClassification

    verify(pairs / RECORD)
    training, seed = config["training"], config["seed"]
    head = int(generator(seed, "encoder", "head").integers(2**63))
    with locked(work):
        tokenizer = open_tokenizer(base)
        model = open_model(
            AutoModelForSequenceClassification,
            base,
            head,
            num_labels=len(LABELS),
            id2label=LABELS,
            label2id={name: number for number, name in LABELS.items()},
        )
        most = longest(model, config["max_tokens"])
        tokenizer.model_max_length = most  # goes into its files: columns cut pairs there, too
        learnt, held_out = (labelled(pairs / name, tokenizer, most) for name in (TRAIN, DEV))

        def measure() -> dict[str, float]:
            values = probabilities(model, held_out.tokens, training, device)
            found = by_negatives(held_out, values)[NEIGHBOUR]
            return {name: found[name] for name in ("accuracy", "f1", "auc")}

        files = {name: sha256(pairs / name) for name in (TRAIN, DEV)} | file_hashes(base)
        fitting = Fitting(
            model,
            learnt.inputs,
            learnt.tokens.lengths,
            training,
            lambda *keys: generator(seed, "encoder", "tuning", *keys),
            device,
            measure=measure,
            plan={"config": config, "files": files, "device": device},
            desc="encoder: paraphrase identification",
        )
        fitting.run(work / CHECKPOINT, every)
        values = probabilities(model, held_out.tokens, training, device)
        metrics = {
            "weights": sum(each.numel() for each in model.parameters()),
            "pairs": len(learnt.labels),
            "cut": int((learnt.tokens.lengths >= most).sum()),
            "updates": fitting.updates,
            "held_out": by_negatives(held_out, values),
            "history": fitting.history,
        }
        publish(model, tokenizer, metrics, (len(learnt.labels), {}), work, output)


def main(argv: list[str] | None = None) -> None:
    """Tune an encoder to tell paraphrases from neighbours."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json_argument, required=True, help="JSON")
    add_inputs(parser)
    parser.add_argument("--base", type=Path, help="folder of the encoder; else config.base says it")
    parser.add_argument("--pairs", type=Path, required=True, help="folder of encoder.pairs")
    add_training_options(parser)
    options = parser.parse_args(argv)
    torch.set_num_threads(options.threads)
    config = dict(options.config)
    base = options.base
    if base is not None:
        verify(base / MODEL)
    else:
        base = encoder_folder(config.pop("base"))
    with unchanged(options.inputs):
        train(
            config,
            base,
            options.pairs,
            options.work,
            options.output,
            str(choose_device(options.device)),
            options.checkpoint_seconds,
        )


if __name__ == "__main__":
    run(main)
