"""All features by name, and their numbers for some pairs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.encoding.interface import Encoder, Read, TokenEncoder
from workflow_scripts.stages.judge.features import (
    edits,
    known,
    nll,
    numbers_and_names,
    sentence_models,
    slips,
    surface,
    token_matches,
)
from workflow_scripts.stages.judge.features.feature import Feature, Models
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs

# The alignment is the first that reads sentences: what it reads serves the cosine, too.
_FAMILIES = (nll, token_matches, sentence_models, known, numbers_and_names, edits, slips, surface)
FEATURES: dict[str, Feature] = {item.name: item for family in _FAMILIES for item in family.FEATURES}


class _Once:
    """A grammar model that is asked for each sentence once, by however many features."""

    def __init__(self, log_odds: Callable[[Sequence[str]], Numbers]):
        self._ask = log_odds
        self._known: dict[str, float] = {}

    def log_odds(self, sentences: Sequence[str]) -> Numbers:
        """Return the log-odds of each sentence, shape (sentences,)."""
        new = [sentence for sentence in dict.fromkeys(sentences) if sentence not in self._known]
        if new:
            self._known |= zip(new, self._ask(new), strict=True)
        return np.array([self._known[sentence] for sentence in sentences], np.float64)


class _Reader:
    """An encoder that reads each sentence once, by however many features."""

    def __init__(self, encoder: Encoder):
        self._encoder = encoder
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._measures: dict[str, Numbers] | None = None

    def encode(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors, shape (sentences, size)."""
        new = [sentence for sentence in dict.fromkeys(sentences) if sentence not in self._vectors]
        if new:
            self._vectors |= zip(new, self._encoder.encode(new), strict=True)
        return np.array([self._vectors[sentence] for sentence in sentences], np.float32)

    def read(self, sentences: Sequence[str]) -> list[Read]:
        """Return the vectors of each sentence and of its tokens."""
        assert isinstance(self._encoder, TokenEncoder)
        results = self._encoder.read(sentences)
        self._vectors |= zip(sentences, (result.sentence for result in results), strict=True)
        return results

    def measures(self, pairs: Pairs) -> dict[str, Numbers] | None:
        """Return the features of tokens; None if the encoder gives no vectors of tokens."""
        if self._measures is None and isinstance(self._encoder, TokenEncoder):
            self._measures = token_matches.measures(pairs, self)
        return self._measures


def compute(pairs: Pairs, names: Iterable[str], models: Models) -> dict[str, Numbers]:
    """Return the numbers of each feature, shape (pairs,), NaN where unknown.

    Those of `reference_vector` have shape (pairs, size), or (pairs,) if its encoder is missing.

    Raises:
        InputError: a name is no feature.
    """
    features = [feature(name) for name in names]
    if models.grammar is not None:
        models = replace(models, grammar=_Once(models.grammar.log_odds))
    if models.encoder is not None:
        models = replace(models, encoder=_Reader(models.encoder))
    order = list(FEATURES)
    in_order = sorted(features, key=lambda item: order.index(item.name))
    numbers = {item.name: item.compute(pairs, models) for item in in_order}
    return {item.name: numbers[item.name] for item in features}


def feature(name: str) -> Feature:
    """Return the feature of a name.

    Raises:
        InputError: there is none.
    """
    if name not in FEATURES:
        raise InputError(f"'{name}' is no feature of pairs{suggestion(name, list(FEATURES))}")
    return FEATURES[name]
