"""What a block of the catalogue `models` is: a model to train, or a finished one.

The Snakefile and jobs import this module: only the standard library.
"""

from typing import Any

# The keys that say where a finished model comes from; a block has one of them.
SOURCES = ("folder", "url", "hub", "package")
# The SentencePiece models that belong to a Sockeye 3 folder.
TEXT_MODELS = ("source_model", "reference_model")
# What is chosen of a model with several languages; a file in its folder has the same keys.
CHOSEN = ("tag", "source", "target")
# What `trained_on` says of a model of which it is not known.
UNKNOWN = "unknown"


def finished(block: dict[str, Any]) -> bool:
    """Tell whether a block is a finished model, which is not trained."""
    return any(key in block for key in SOURCES)


def chosen(block: dict[str, Any]) -> dict[str, str]:
    """Return what a block chooses of a model with several languages."""
    return {key: block[key] for key in CHOSEN if key in block}


def as_trained_here(block: dict[str, Any]) -> bool:
    """Tell whether a block counts as trained on the training corpora of the run.

    Besides the models that are trained, that is a Sockeye 3 folder with its two SentencePiece
    models and without `trained_on`: so it was before `trained_on` came.
    """
    return not finished(block) or (TEXT_MODELS[0] in block and "trained_on" not in block)
