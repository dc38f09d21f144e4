"""All features by name, and their numbers for some pairs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.judge.features import agreement, known, nll, sentence_models, surface
from workflow_scripts.judge.features.feature import Feature, Models
from workflow_scripts.judge.pairs import Numbers, Pairs

_FAMILIES = (nll, sentence_models, known, agreement, surface)
FEATURES: dict[str, Feature] = {each.name: each for family in _FAMILIES for each in family.FEATURES}


class _Once:
    """A grammar model that is asked for each sentence once, by however many features."""

    def __init__(self, log_odds: Callable[[Sequence[str]], Numbers]):
        self._ask = log_odds
        self._found: dict[str, float] = {}

    def log_odds(self, sentences: Sequence[str]) -> Numbers:
        """Return the log-odds of each sentence, shape (sentences,)."""
        new = [each for each in dict.fromkeys(sentences) if each not in self._found]
        if new:
            self._found |= zip(new, self._ask(new), strict=True)
        return np.array([self._found[each] for each in sentences], np.float64)


def compute(pairs: Pairs, names: Iterable[str], models: Models) -> dict[str, Numbers]:
    """Return the numbers of each feature, shape (pairs,), NaN where unknown.

    Raises:
        InputError: a name is no feature.
    """
    features = [feature(name) for name in names]
    if models.grammar is not None:
        models = replace(models, grammar=_Once(models.grammar.log_odds))
    return {each.name: each.compute(pairs, models) for each in features}


def feature(name: str) -> Feature:
    """Return the feature of a name.

    Raises:
        InputError: there is none.
    """
    if name not in FEATURES:
        raise InputError(f"'{name}' is no feature of pairs{suggestion(name, list(FEATURES))}")
    return FEATURES[name]
