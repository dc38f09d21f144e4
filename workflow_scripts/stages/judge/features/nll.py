"""NLLs of the paraphrase, and what they are beside those of the human reference.

An infinite NLL is unknown: one side is longer than the model takes.
"""

import numpy as np

from workflow_scripts.core.text.text_tokens import tokens
from workflow_scripts.plan.catalogues.pair_features import COMPARED
from workflow_scripts.stages.judge.features.feature import Feature, Models
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs

# Of differences below this nothing is made.
_LEAST_NATS = 0.05


def _known(values: Numbers) -> Numbers:
    return np.where(np.isfinite(values), values, np.nan)


def _column(name: str) -> Feature:
    def column(pairs: Pairs, _: Models) -> Numbers:
        return _known(getattr(pairs, name))

    return Feature(name, column, columns=(name,))


def _gain(direction: str) -> Feature:
    of_paraphrase, of_reference = f"{direction}_nll", f"reference_{direction}_nll"

    def gain(pairs: Pairs, _: Models) -> Numbers:
        return _known(getattr(pairs, of_reference)) - _known(getattr(pairs, of_paraphrase))

    return Feature(f"{direction}_gain", gain, columns=(of_paraphrase, of_reference))


def _root(pairs: Pairs, _: Models) -> Numbers:
    """Return the root of the NLL of all words and the end: it grows slowly with the length."""
    assert pairs.forward_nll is not None
    lengths = np.array([len(tokens(text)) + 1 for text in pairs.paraphrases], np.float64)
    return np.sqrt(np.maximum(_known(pairs.forward_nll), 0) * lengths)


def _logarithm(name: str, column: str) -> Feature:
    """Return the feature of the logarithm of a column: what is small already is told apart best."""

    def logarithm(pairs: Pairs, _: Models) -> Numbers:
        return np.log(np.maximum(_known(getattr(pairs, column)), 0) + _LEAST_NATS)

    return Feature(name, logarithm, columns=COMPARED)


FEATURES = (
    *map(_column, ("forward_nll", "backward_nll", "forward_total", "forward_worst")),
    *map(_gain, ("forward", "backward")),
    Feature("forward_root", _root, columns=("forward_nll",)),
    _logarithm("divergence", "divergence"),
    _logarithm("source_lost", "lost"),
)
