"""What a block of `models` must hold: a shape with its training, or a finished model.

The Snakefile imports this module: only the standard library.
"""

from collections.abc import Iterator
from typing import Any

# The keys of a finished model, all of them and no others.
OWN_KEYS = ("folder", "source_model", "reference_model")
REQUIRED = (
    "encoder_layers",
    "decoder_layers",
    "size",
    "feed_forward",
    "heads",
    "dropout",
    "label_smoothing",
    "batch_words",
    "max_updates",
    "checkpoint_updates",
    "learning_rate",
    "warmup",
    "schedule",
    "max_length",
)
DEFAULTS = {"patience": None, "update_interval": 1, "amp": False, "matmul": "fp32"}
CHOICES = {
    "schedule": ("none", "inv-sqrt-decay", "linear-decay", "plateau-reduce"),
    "matmul": ("fp32", "bf16"),
}


def problems(block: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a block: keys that are missing or unknown, values in conflict."""
    own = any(key in block for key in OWN_KEYS)
    needed, known = (OWN_KEYS, OWN_KEYS) if own else (REQUIRED, (*REQUIRED, *DEFAULTS))
    missing = [key for key in needed if key not in block]
    for key in missing:
        yield f"key '{key}' is missing" + (", which a model of your own needs" if own else "")
    if unknown := [key for key in block if key not in known]:
        # Two blocks of one name are merged, so the keys may stand in the file below.
        advice = "a model of your own has a name of its own" if own else "take them out"
        yield f"unknown {', '.join(unknown)}: {advice}"
    if own or missing:
        return
    for key, choices in CHOICES.items():
        if block.get(key, choices[0]) not in choices:
            yield f"{key} '{block[key]}' is none of {', '.join(choices)}"
    if block["size"] % block["heads"]:
        yield f"heads ({block['heads']}) does not divide size ({block['size']})"
    if block["schedule"] == "none" and block["warmup"]:
        yield "schedule none has no warm-up: set warmup to 0"
    if block["batch_words"] <= block["max_length"]:
        yield (
            f"batch_words ({block['batch_words']}) must exceed max_length ({block['max_length']}): "
            "a batch holds at least one sentence"
        )
