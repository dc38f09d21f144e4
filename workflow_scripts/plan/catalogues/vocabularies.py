"""Settings of vocabularies, which the stages `subword` and `rewrite` make in the same way.

The Snakefile imports this module: only the standard library.
"""

from typing import Any

_KEYS = ("model_type", "coverage", "split_digits", "sentences", "seed")


def effective(block: dict[str, Any]) -> dict[str, Any]:
    """Return a block without the keys that have no effect: those of sampling, where none is."""
    if block["samples"]:
        return block
    return {key: value for key, value in block.items() if key not in ("nbest", "alpha")}


def vocabulary_settings(settings: dict[str, Any], side: str) -> dict[str, Any]:
    """Return the settings of the SentencePiece model of one side.

    Args:
        settings: of the segments: those of its text, `vocab_size` of both sides, and `train`, the
            corpora that it learns from.
        side: source or reference.
    """
    return {
        **{key: settings[key] for key in _KEYS},
        "side": side,
        "vocab_size": settings["vocab_size"][side],
        "corpora": settings["train"],
    }
