"""What a feature is, and the models that features read."""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from workflow_scripts.encoding.interface import Encoder
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs, numbers_of


class Grammar(Protocol):
    """Tells grammatical sentences from damaged ones."""

    def log_odds(self, sentences: Sequence[str]) -> Numbers:
        """Return the log-odds of each sentence to be sound, shape (sentences,)."""


class LanguageModel(Protocol):
    """Gives probabilities of sentences."""

    def log_probability(self, sentences: Sequence[str]) -> Numbers:
        """Return the mean log-probability of each sentence's words and its end, in nats."""


@dataclass(frozen=True)
class Models:
    """What features read besides the pairs; None where it is not at hand."""

    encoder: Encoder | None = None
    grammar: Grammar | None = None
    language_model: LanguageModel | None = None
    known_words: Container[str] | None = None
    """The words that references hold, as `core.text.text_tokens.known_words` gives them."""
    language: str = "en"
    """ISO 639 code of the references' language."""


@dataclass(frozen=True)
class Feature:
    """A number of each pair: what it needs, and the languages that it is for."""

    name: str
    function: Callable[[Pairs, Models], Numbers]
    columns: tuple[str, ...] = ()
    """The columns of `Pairs` that it needs besides the texts."""
    models: tuple[str, ...] = ()
    """The fields of `Models` that it needs."""
    languages: tuple[str, ...] | None = None
    """The languages of references for which it is; None: every one."""

    def missing(self, pairs: Pairs, models: Models) -> list[str]:
        """Return what it needs and is not at hand, by the names of fields."""
        lacking = [column for column in self.columns if getattr(pairs, column) is None]
        lacking += [model for model in self.models if getattr(models, model) is None]
        if self.languages and models.language not in self.languages:
            lacking.append("language")
        return lacking

    def compute(self, pairs: Pairs, models: Models) -> Numbers:
        """Return the numbers, shape (pairs,): NaN where unknown, or where a need is missing."""
        if self.missing(pairs, models) or not len(pairs):
            return np.full(len(pairs), np.nan)
        return self.function(pairs, models)


def of_texts(
    name: str, function: Callable[[str, str], float], languages: tuple[str, ...] | None = None
) -> Feature:
    """Return the feature that a function of reference and paraphrase computes."""
    return Feature(name, lambda pairs, _: numbers_of(pairs, function), languages=languages)
