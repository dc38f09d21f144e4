"""Fits a judge to labels (good, acceptable, bad), to ratings, or to both.

Writes judge.json, which `judge.score --judge` and the `judges` of a run take. Prints how good each
set of features is on held-out references, and the reliability of the probabilities.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.features import ENCODER, KNOWN_WORDS
from workflow_scripts.core.languages import ENGLISH
from workflow_scripts.judge.examples import read_labels, read_ratings
from workflow_scripts.judge.features import FEATURES, Models, compute
from workflow_scripts.judge.features.registry import feature
from workflow_scripts.judge.fitting import Design, Examples, fit, held_out, splits
from workflow_scripts.judge.model import Judge
from workflow_scripts.judge.models import load_models

# What proved useful by cross-validation (docs/judge.md), in any order.
FEATURES_BY_DEFAULT = (
    *("forward_nll", "forward_root", "backward_nll", "cosine", "tokens_kept", "tokens_kept_below"),
    *("worst_kept", "worst_added", "spread_added", "reference_vector", "grammar"),
    *("changed_pronouns", "invented_words", "dropped_words", "repeated_words"),
)
GOOD_RATING = 80.0


def usable(features: Sequence[str], given: Sequence[Examples], language: str) -> list[str]:
    """Return those features that the files and the language allow.

    Raises:
        InputError: a name is no feature.
    """
    columns = {column for each in given for column in each.pairs.columns()}
    return [
        name
        for name in features
        if set(feature(name).columns) <= columns
        and (FEATURES[name].languages is None or language in FEATURES[name].languages)
    ]
