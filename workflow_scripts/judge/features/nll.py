"""NLLs of the paraphrase, and the same relative to those of the human reference.

An infinite NLL is unknown: one side is longer than the model takes.
"""

import numpy as np

from workflow_scripts.judge.features.feature import Feature, Models
from workflow_scripts.judge.pairs import Numbers, Pairs


def _known(values: Numbers) -> Numbers:
    return np.where(np.isfinite(values), values, np.nan)


def _column(name: str) -> Feature:
    def column(pairs: Pairs, _: Models) -> Numbers:
        return _known(getattr(pairs, name))

    return Feature(name, column, columns=(name,))


def _gain(direction: str) -> Feature:
    own, of_reference = f"{direction}_nll", f"reference_{direction}_nll"

    def gain(pairs: Pairs, _: Models) -> Numbers:
        return _known(getattr(pairs, of_reference)) - _known(getattr(pairs, own))

    return Feature(f"{direction}_gain", gain, columns=(own, of_reference))


FEATURES = (
    *map(_column, ("forward_nll", "backward_nll", "forward_total", "forward_worst")),
    *map(_gain, ("forward", "backward")),
)
