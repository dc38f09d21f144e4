"""Loads the models that features of pairs need."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workflow_scripts.encoding.sentence_vectors import encoder_folder, load_encoder
from workflow_scripts.plan.catalogues.pair_features import ENCODER, ENGLISH, GRAMMAR, NEEDS
from workflow_scripts.stages.generate.known_words import read_words
from workflow_scripts.stages.judge.features import Models
from workflow_scripts.stages.judge.features.dictionary import WithDictionary
from workflow_scripts.stages.judge.grammar.grammar_model import Grammar


def load_models(
    features: Iterable[str],
    config: dict[str, Any],
    words: Path | None,
    grammar: Path | None,
    device: str,
) -> Models:
    """Return what some features need.

    Args:
        features: their names.
        config: {"encoder": its settings, "language": of the references}, and maybe
            "encoder_precision".
        words: what `generate.known_words` wrote; None where no feature needs it.
        grammar: the record `model.json` in the model's folder; None for the one that ships.
        device: of torch, for the encoder.

    Raises:
        InputError: a model is missing or damaged.
    """
    needs = {need for name in features for need in NEEDS[name]}
    known = None if words is None else read_words(words)
    language = config["language"]
    encoder = encoder_folder(config["encoder"]) if ENCODER in needs else None
    return Models(
        encoder=None
        if encoder is None
        else load_encoder(encoder, device, config.get("encoder_precision", "fp32")),
        grammar=Grammar.load(grammar.parent if grammar else "english")
        if GRAMMAR in needs
        else None,
        known_words=WithDictionary(known) if known is not None and language in ENGLISH else known,
        language=language,
    )
