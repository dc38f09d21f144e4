"""From a block of `models` in the config to the arguments of Sockeye's command lines."""

import math
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.schema import filled
from workflow_scripts.stages.train import model_checks, work_folder

# Pieces. With buckets this narrow hardly any padding is computed; narrower ones gain nothing.
_BUCKET_WIDTH = 4


def complete_block(role: str, block: dict[str, Any]) -> dict[str, Any]:
    """Return a `models` block with its defaults filled in.

    Raises:
        InputError: a key is missing or unknown, or values don't fit each other.
    """
    if problems := list(model_checks.problems(block)):
        raise InputError(f"the model of {role}: {'; '.join(problems)}")
    return filled(block, "model")


def _flags(options: dict[str, Any]) -> list[str]:
    """Spell options as a command line: True stands for a bare flag, None for no flag."""
    words = []
    for name, value in options.items():
        if value is True:
            words.append(f"--{name}")
        elif value is not None and value is not False:
            words += [f"--{name}", str(value)]
    return words


def prepare_arguments(block: dict[str, Any]) -> list[str]:
    """Return the arguments of `sockeye.prepare_data`: text to shards of bucketed tensors."""
    return _flags(
        {
            "source": work_folder.TRAIN_SOURCE,
            "target": work_folder.TRAIN_TARGET,
            "source-vocab": work_folder.SOURCE_VOCABULARY,
            "target-vocab": work_folder.TARGET_VOCABULARY,
            "max-seq-len": f"{block['max_length']}:{block['max_length']}",
            "bucket-width": _BUCKET_WIDTH,
            "no-logfile": True,
            "output": work_folder.PREPARED_UNFINISHED,
        }
    )


def _initial_learning_rate(block: dict[str, Any]) -> float:
    """Return the rate that Sockeye needs so that the peak, after the warm-up, is `learning_rate`.

    Its inv-sqrt-decay divides by sqrt(max(t, warm-up)) from the first update on.
    """
    if block["schedule"] == "inv-sqrt-decay":
        return block["learning_rate"] * math.sqrt(max(1, block["warmup"]))
    return block["learning_rate"]


def device_arguments(block: dict[str, Any], device: str) -> list[str]:
    """Return the arguments of `sockeye.train` that follow from the device, "cpu" or "cuda"."""
    return _flags({"use-cpu": device == "cpu", "amp": block["amp"] and device == "cuda"})


def by_device(block: dict[str, Any]) -> dict[str, list[str]]:
    """Return `device_arguments` for every device."""
    return {device: device_arguments(block, device) for device in ("cpu", "cuda")}


def train_arguments(block: dict[str, Any], seed: int, output: str = work_folder.MODEL) -> list[str]:
    """Return the arguments of `sockeye.train` that do not depend on the device.

    All paths are relative to the work folder, so that a work folder can be moved: Sockeye resumes
    only when every argument is literally the same. `--max-updates` and `patience` are the only
    ways to stop; the others are checked at checkpoints only or can't be resumed.

    Args:
        block: a complete `models` block.
        seed: seeds the initial weights, the order of the data and dropout.
        output: the folder to train in.
    """
    # Dropout of the feed-forward layers' activations takes a tenth of the time and changes little.
    dropout = f"{block['dropout']}:{block['dropout']}"
    return _flags(
        {
            "prepared-data": work_folder.PREPARED,
            "validation-source": work_folder.DEV_SOURCE,
            "validation-target": work_folder.DEV_TARGET,
            "output": output,
            "no-logfile": True,
            "seed": seed,
            "num-layers": f"{block['encoder_layers']}:{block['decoder_layers']}",
            "transformer-model-size": block["size"],
            "transformer-feed-forward-num-hidden": block["feed_forward"],
            "transformer-attention-heads": block["heads"],
            "transformer-dropout-prepost": dropout,
            "transformer-dropout-attention": dropout,
            "transformer-dropout-act": "0:0",
            "weight-tying-type": "trg_softmax",
            "label-smoothing": block["label_smoothing"],
            "batch-type": "word",
            "batch-size": block["batch_words"],
            "update-interval": block["update_interval"],
            "max-updates": block["max_updates"],
            "checkpoint-interval": block["checkpoint_updates"],
            "max-num-checkpoint-not-improved": block["patience"],
            "initial-learning-rate": _initial_learning_rate(block),
            "learning-rate-warmup": block["warmup"],
            "learning-rate-scheduler-type": block["schedule"],
            "decode-and-evaluate": 0,
            "keep-last-params": 1,
        }
    )
