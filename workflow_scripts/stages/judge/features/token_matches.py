"""What of the reference's tokens the paraphrase keeps, and what it adds, as an encoder sees them.

Each token is beside the most similar token of the other sentence (cosine of contextual vectors, as
BERTScore does: Zhang et al. 2020, section 3). The means say how much is kept in all, the worst
tokens whether one word was changed. Layers below the last one see words more than meaning.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.encoding.interface import TokenEncoder
from workflow_scripts.stages.judge.features.feature import Feature, Models
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs

# The places of the layers: the last one, the one below it, and the next.
_LAST, _BELOW, _THIRD = 2, 1, 0
# Pairs whose tokens are held in memory together.
_CHUNK = 256
_NAMES = ("tokens_kept", "tokens_kept_below", "worst_kept", "spread_added")
_VECTOR = "reference_vector"


def alignment(
    reference: NDArray[np.float32], paraphrase: NDArray[np.float32]
) -> tuple[float, float, float, float]:
    """Return the numbers of a pair in the order of the features; NaN if a side has no token.

    Args:
        reference: vectors of its tokens, shape (LAYERS, tokens, size), of length 1.
        paraphrase: the same.
    """
    if not (reference.shape[1] and paraphrase.shape[1]):
        return (np.nan,) * 4
    similar = reference @ paraphrase.transpose(0, 2, 1)
    of_reference, of_paraphrase = similar.max(axis=2), similar[_THIRD].max(axis=0)
    return (
        float(of_reference[_LAST].mean()),
        float(of_reference[_BELOW].mean()),
        float(np.sort(of_reference[_BELOW])[:2].mean()),
        float(of_paraphrase.std()),
    )


def measures(pairs: Pairs, encoder: TokenEncoder) -> dict[str, Numbers]:
    """Return all features of this family, each sentence of some pairs being read once.

    Returns:
        Numbers of shape (pairs,) by feature, NaN where a side has no token; that of the references'
        vectors has shape (pairs, size).
    """
    rows, vectors = [], []
    for start in range(0, len(pairs), _CHUNK):
        references = pairs.references[start : start + _CHUNK]
        paraphrases = pairs.paraphrases[start : start + _CHUNK]
        texts = list(dict.fromkeys((*references, *paraphrases)))
        read = dict(zip(texts, encoder.read(texts), strict=True))
        units = {text: _units(encoded.tokens) for text, encoded in read.items()}
        means = {text: _mean(read[text].tokens) for text in dict.fromkeys(references)}
        for reference, paraphrase in zip(references, paraphrases, strict=True):
            rows.append(alignment(units[reference], units[paraphrase]))
            vectors.append(means[reference])
    columns = np.array(rows, np.float64).reshape(-1, len(_NAMES)).T
    return {**dict(zip(_NAMES, columns, strict=True)), _VECTOR: np.array(vectors, np.float64)}


def _units(tokens: NDArray[np.float32]) -> NDArray[np.float32]:
    return tokens / np.maximum(np.linalg.norm(tokens, axis=2, keepdims=True), 1e-12)


def _mean(tokens: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the mean vector of a sentence in the third layer, of length 1; NaN without tokens."""
    if not tokens.shape[1]:
        return np.full(tokens.shape[2], np.nan, np.float32)
    mean: NDArray[np.float32] = tokens[_THIRD].mean(axis=0)
    return mean / np.float32(max(float(np.linalg.norm(mean)), 1e-12))


def _of(name: str) -> Callable[[Pairs, Models], Numbers]:
    def numbers(pairs: Pairs, models: Models) -> Numbers:
        encoder: Any = models.encoder
        if hasattr(encoder, "measures"):  # one that remembers them for the other features
            columns: dict[str, Numbers] | None = encoder.measures(pairs)
        else:
            columns = measures(pairs, encoder) if isinstance(encoder, TokenEncoder) else None
        return np.full(len(pairs), np.nan) if columns is None else columns[name]

    return numbers


FEATURES = tuple(Feature(name, _of(name), models=("encoder",)) for name in (*_NAMES, _VECTOR))
