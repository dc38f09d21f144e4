"""What a block of `models` must hold: a shape with its training, or a finished model.

The schema of the configuration says which keys that are. Jobs ask again, because they can be
started by hand.

The Snakefile imports this module: only the standard library.
"""

from collections.abc import Iterator
from typing import Any

from workflow_scripts.core.schema import definition

# The keys of a finished model, all of them and no others.
OWN_KEYS = tuple(definition("model")["then"]["required"])
_SHAPE_KEYS = tuple(definition("model")["else"]["required"])
_KEYS = definition("model")["properties"]


def problems(block: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a block: keys that are missing or unknown, values in conflict."""
    own = any(key in block for key in OWN_KEYS)
    needed = OWN_KEYS if own else _SHAPE_KEYS
    known = OWN_KEYS if own else [key for key in _KEYS if key not in OWN_KEYS]
    missing = [key for key in needed if key not in block]
    for key in missing:
        yield f"key '{key}' is missing" + (", which a model of your own needs" if own else "")
    if unknown := [key for key in block if key not in known]:
        # Two blocks of one name are merged, so the keys may stand in the file below.
        advice = "a model of your own has a name of its own" if own else "take them out"
        yield f"unknown {', '.join(unknown)}: {advice}"
    if own or missing:
        return
    for key, choices in ((key, each["enum"]) for key, each in _KEYS.items() if "enum" in each):
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
