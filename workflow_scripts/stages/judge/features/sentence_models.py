"""What models of sentences say: an encoder, a grammar classifier, a language model."""

import numpy as np

from workflow_scripts.stages.judge.features.feature import Feature, Models
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs


def _cosine(pairs: Pairs, models: Models) -> Numbers:
    assert models.encoder is not None
    # A reference stands beside all its paraphrases, and is encoded once.
    places: dict[str, int] = {}
    rows = [
        places.setdefault(text, len(places)) for text in (*pairs.references, *pairs.paraphrases)
    ]
    vectors = np.asarray(models.encoder.encode(list(places)), np.float64)
    first, second = vectors[rows[: len(pairs)]], vectors[rows[len(pairs) :]]
    norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    products = np.einsum("ij,ij->i", first, second)
    return np.divide(products, norms, out=np.full(len(pairs), np.nan), where=norms > 0)


def _grammar(pairs: Pairs, models: Models) -> Numbers:
    assert models.grammar is not None
    return models.grammar.log_odds(pairs.paraphrases)


def _grammar_gain(pairs: Pairs, models: Models) -> Numbers:
    assert models.grammar is not None
    return _grammar(pairs, models) - models.grammar.log_odds(pairs.references)


def _language_model(pairs: Pairs, models: Models) -> Numbers:
    assert models.language_model is not None
    both = models.language_model.log_probability([*pairs.paraphrases, *pairs.references])
    return both[: len(pairs)] - both[len(pairs) :]


FEATURES = (
    Feature("cosine", _cosine, models=("encoder",)),
    Feature("grammar", _grammar, models=("grammar",)),
    Feature("grammar_gain", _grammar_gain, models=("grammar",)),
    Feature("language_model", _language_model, models=("language_model",)),
)
