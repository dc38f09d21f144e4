"""How well scores of word pairs agree with those that people gave: Spearman's rank correlation.

A ranker gives each pair a number, or none where it does not know the pair. Three figures follow:
over the pairs that it knows; over all pairs, where those that it does not know have one rank below
the others; and over the pairs that the lexicon knows, on which rankers can be compared.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from workflow_scripts.core.seeding import fraction, generator
from workflow_scripts.core.statistics.bootstrap import interval
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.stages.lexicon.measures_data import Pair, WordPairs

Numbers = NDArray[np.float64]
# Bootstrap samples ranked at once.
_CHUNK = 64
# Cosines are rounded before they are ranked (embed/correlations.py says why).
COSINE_DECIMALS = 6


def unordered(scores: Mapping[Pair, float], pairs: Iterable[Pair]) -> Numbers:
    """Return the score of each pair whatever its order, NaN where there is none.

    Where both directions have one, their mean counts; else that of the one that has.
    """
    means = []
    for first, second in pairs:
        both = [scores.get((first, second)), scores.get((second, first))]
        known = [score for score in both if score is not None]
        means.append(sum(known) / len(known) if known else np.nan)
    return np.array(means, np.float64)


def listed(scores: Mapping[Pair, float], pairs: Iterable[Pair]) -> Numbers:
    """Return 1 for each pair that stands in a list without scores, else NaN."""
    return np.where(np.isnan(unordered(scores, pairs)), np.nan, 1.0)


def chance(pairs: Iterable[Pair], seed: int) -> Numbers:
    """Return a random number for each pair."""
    return np.array([fraction(seed, "word pair", *pair) for pair in pairs], np.float64)


def cosine_of(words: Mapping[str, NDArray[np.float32]], pairs: Iterable[Pair]) -> Numbers:
    """Return the cosine of each pair's vectors; NaN where a word has none, or one of zeros."""
    cosines = []
    for pair in pairs:
        vectors = [words.get(word) for word in pair]
        norms = [0.0 if vector is None else float(np.linalg.norm(vector)) for vector in vectors]
        if min(norms) > 0:
            first, second = (np.asarray(vector, np.float64) for vector in vectors)
            cosine = float(first @ second) / (norms[0] * norms[1])
            cosines.append(round(cosine, COSINE_DECIMALS))
        else:
            cosines.append(np.nan)
    return np.array(cosines, np.float64)


def _lowest(values: Numbers) -> Numbers:
    """Return the ranks of values, the unknown ones below all others."""
    known = ~np.isnan(values)
    return np.where(known, rankdata(np.where(known, values, -np.inf)), 0.0)


def _pearson(first: Numbers, second: Numbers) -> Numbers:
    """Return Pearson's r of each row; NaN where a row does not vary.

    Args:
        first: shape (rows, pairs), of ranks.
        second: of the same shape.
    """
    first = first - first.mean(axis=1, keepdims=True)
    second = second - second.mean(axis=1, keepdims=True)
    scale = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    products = (first * second).sum(axis=1)
    return np.divide(products, scale, out=np.full(len(scale), np.nan), where=scale > 0)


def spearman(gold: Numbers, numbers: Numbers, samples: int, seed: int) -> dict[str, float] | None:
    """Return Spearman's rho with its 95 % interval of a bootstrap over pairs.

    Equal numbers share the mean of their ranks. Samples in which a side does not vary are left
    out.

    Args:
        gold: the scores of people; no NaN.
        numbers: the numbers of the same pairs; no NaN.
        samples: bootstrap samples to draw.
        seed: of the draws.

    Returns:
        `value`, `low` and `high`; None with fewer than three pairs, or where a side is constant.
    """
    count = len(gold)
    ranks = np.stack([rankdata(gold), rankdata(numbers)]) if count > 2 else np.zeros((2, 1))
    value = _pearson(ranks[:1], ranks[1:])[0]
    if np.isnan(value):
        return None
    random = generator(seed, "word similarity")
    drawn = []
    for start in range(0, samples, _CHUNK):
        places = random.integers(count, size=(min(_CHUNK, samples - start), count))
        # A pair's rank in a sample depends on what else is drawn.
        of_sample = [rankdata(of_side[places], axis=1) for of_side in ranks]
        drawn.append(_pearson(of_sample[0], of_sample[1]))
    values = np.concatenate(drawn)
    bounds = interval(values[~np.isnan(values)]) if not np.isnan(values).all() else None
    if bounds is None:
        return None
    return {"value": round(float(value), DECIMALS), **bounds}


def similarity(
    data_sets: Sequence[WordPairs],
    rankers: Mapping[str, Sequence[Numbers]],
    lexicon: str,
    samples: int,
    seed: int,
) -> dict[str, Any]:
    """Return what each ranker is worth on each data set.

    Args:
        data_sets: at least one.
        rankers: the numbers of each data set's pairs, NaN where it does not know one, by name.
        lexicon: the ranker on whose pairs all are compared.
        samples: of the bootstrap.
        seed: of the bootstrap.

    Returns:
        By data set `pairs`, `same` and `rankers`; by ranker `covered` (pairs that it knows) and the
        figures `on_covered`, `on_all` and `on_lexicon`; `common`, how many pairs the last one is
        of: those that the lexicon and the ranker both know.
    """
    measured: dict[str, Any] = {}
    for number, data_set in enumerate(data_sets):
        gold = np.array(data_set.scores, np.float64)
        of_lexicon = ~np.isnan(rankers[lexicon][number])
        by_ranker = {}
        for name, of_sets in rankers.items():
            values = of_sets[number]
            known = ~np.isnan(values)
            common = known & of_lexicon
            by_ranker[name] = {
                "covered": int(known.sum()),
                "common": int(common.sum()),
                "on_covered": spearman(gold[known], values[known], samples, seed),
                "on_all": spearman(gold, _lowest(values), samples, seed),
                "on_lexicon": spearman(gold[common], values[common], samples, seed),
            }
        measured[data_set.name] = {
            "pairs": len(data_set.pairs),
            "same": data_set.same,
            "rankers": by_ranker,
        }
    return measured
