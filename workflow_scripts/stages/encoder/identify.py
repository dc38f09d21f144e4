"""Tune an encoder to tell paraphrases from neighbours: pBERT (ParaBank 2, section 3.8)."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from torch import Tensor

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device, choose_device
from workflow_scripts.core.files.file_lock import locked
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import sha256, verify
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import EncoderPairRow
from workflow_scripts.core.seeding import generator
from workflow_scripts.core.training.loop import CHECKPOINT_SECONDS
from workflow_scripts.encoding.encoder_tokens import Tokens, tokenised
from workflow_scripts.encoding.interface import RECORD as MODEL
from workflow_scripts.encoding.model_outputs import probabilities
from workflow_scripts.encoding.pretrained import file_hashes, longest, open_model, open_tokenizer
from workflow_scripts.encoding.sentence_vectors import encoder_folder
from workflow_scripts.stages.encoder.finished_encoder import (
    CHECKPOINT,
    publish,
)
from workflow_scripts.stages.encoder.identification_pairs import (
    DEV,
    NEIGHBOUR,
    PARAPHRASE,
    RANDOM,
    RECORD,
    TRAIN,
)
from workflow_scripts.stages.encoder.training import Fitting

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
    """Return the pairs of a file; see `identification_pairs.write`."""
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
    figures = {}
    for kind in (NEIGHBOUR, RANDOM):
        chosen = np.isin(pairs.kinds, (PARAPHRASE, kind))
        if not (pairs.kinds[chosen] == kind).any():
            continue
        labels = pairs.labels[chosen]
        cosine = float(roc_auc_score(labels, pairs.cosines[chosen]))
        figures[kind] = {**measures(labels, values[chosen], 0.5), "cosine_auc": cosine}
    return figures


def opened(base: Path, config: dict[str, Any]) -> tuple[Any, Any]:
    """Return an encoder with a new output layer for the classes, and its tokenizer.

    Args:
        base: its folder.
        config: `max_tokens`, to which the tokenizer is told to cut pairs, and `seed`.

    Raises:
        InputError: it can't be read.
    """
    from transformers import AutoModelForSequenceClassification

    tokenizer = open_tokenizer(base)
    model = open_model(
        AutoModelForSequenceClassification,
        base,
        int(generator(config["seed"], "encoder", "head").integers(2**63)),
        num_labels=len(LABELS),
        id2label=LABELS,
        label2id={name: number for number, name in LABELS.items()},
    )
    # It goes into the tokenizer's files: columns cut pairs there, too.
    tokenizer.model_max_length = longest(model, config["max_tokens"])
    return model, tokenizer


def tuned(
    base: Path, pairs: Path, plan: dict[str, Any], checkpoint: Path, every: float
) -> tuple[Any, Any, dict[str, Any]]:
    """Bring the tuning to its end, from wherever it stands.

    Args:
        base: the folder of the encoder that is tuned.
        pairs: the folder of the pairs.
        plan: all that the tuning follows from; its `config` and `device` say how.
        checkpoint: outlives kills.
        every: seconds between two checkpoints.

    Returns:
        The model, its tokenizer, and metrics.json.
    """
    config, device = plan["config"], plan["device"]
    training, seed = config["training"], config["seed"]
    model, tokenizer = opened(base, config)
    most = tokenizer.model_max_length
    learnt, held_out = (labelled(pairs / name, tokenizer, most) for name in (TRAIN, DEV))

    def measure() -> dict[str, float]:
        values = probabilities(model, held_out.tokens, training, device)
        figures = by_negatives(held_out, values)[NEIGHBOUR]
        return {name: figures[name] for name in ("accuracy", "f1", "auc")}

    fitting = Fitting(
        model,
        learnt.inputs,
        learnt.tokens.lengths,
        training,
        lambda *keys: generator(seed, "encoder", "tuning", *keys),
        device,
        measure=measure,
        plan=plan,
        desc="encoder: paraphrase identification",
    )
    fitting.run(checkpoint, every)
    metrics = {
        "weights": sum(weights.numel() for weights in model.parameters()),
        "pairs": len(learnt.labels),
        "cut": int((learnt.tokens.lengths >= most).sum()),
        "updates": fitting.updates,
        "held_out": by_negatives(held_out, probabilities(model, held_out.tokens, training, device)),
        "history": fitting.history,
    }
    return model, tokenizer, metrics


def tune(
    config: dict[str, Any],
    pairs: Path,
    work: Path,
    output: Path,
    inputs: dict[str, str] | None = None,
    base: Path | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    device: Device = "auto",
    threads: int = 1,
) -> None:
    """Tune an encoder to tell paraphrases from neighbours.

    Args:
        config: `training`, `max_tokens`, `seed`; and `base`, the block of the encoder, where no
            folder is given.
        pairs: folder of `identification_pairs`.
        base: folder of the encoder that is tuned, of a unit of the run.

    Raises:
        InputError: the encoder can't be read, or a file is damaged or changed.
    """
    torch.set_num_threads(threads)
    config = dict(config)
    if base is not None:
        verify(base / MODEL)
    else:
        base = encoder_folder(config.pop("base"))
    where = str(choose_device(device))
    with unchanged(inputs or {}):
        verify(pairs / RECORD)
        with locked(work):
            files = {name: sha256(pairs / name) for name in (TRAIN, DEV)} | file_hashes(base)
            plan = {"config": config, "files": files, "device": where}
            model, tokenizer, metrics = tuned(
                base, pairs, plan, work / CHECKPOINT, checkpoint_seconds
            )
            publish(model, tokenizer, metrics, (metrics["pairs"], {}), work, output)


main = command(tune, __name__)
