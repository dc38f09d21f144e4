"""How far annotators agree, which bounds what a judge can learn from them."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.seeding import generator
from workflow_scripts.core.statistics.rank_correlation import spearman
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.stages.judge.rating_file import GRAMMATICAL, Pair, Rating

# Random halves of the annotators of each pair, over which the correlation is averaged.
SPLITS = 100
# Pairs that a person shares with others before a correlation says something of the person.
MIN_SHARED = 10


def agreement(ratings: Sequence[Rating], seed: int = 1) -> dict[str, Any]:
    """Return how far people agree on the pairs that two or more of them rated, without controls.

    A person who rated a pair twice has the mean of both scores there.

    Returns:
        `pairs` with scores by two or more people; `split_half`: Spearman's correlation of the
        means of random halves of each pair's people, averaged over `SPLITS` draws, and
        `split_half_all`: the same for means of all of them, by Spearman and Brown's formula
        2r / (1 + r); `ceiling`: its square root, which is the correlation with these means that
        the true scores would have; `others`: the correlation of one person's scores with the means
        of the others', averaged over the people with `MIN_SHARED` such pairs, weighted by their
        pairs; `grammar`: of any two people's remarks on a pair, the share x 100 where both find
        it grammatical or both do not. A figure is None where nothing shows it.
    """
    scores: dict[Pair, dict[str, list[float]]] = {}
    flags: dict[Pair, dict[str, bool]] = {}
    for rating in ratings:
        if rating.control:
            continue
        pair = Pair(rating.reference, rating.length, rating.paraphrase)
        if rating.score is not None:
            scores.setdefault(pair, {}).setdefault(rating.annotator, []).append(rating.score)
        people = flags.setdefault(pair, {})
        faulty = rating.grammar < GRAMMATICAL
        people[rating.annotator] = people.get(rating.annotator, False) or faulty
    shared = [
        {name: sum(own_scores) / len(own_scores) for name, own_scores in people.items()}
        for people in scores.values()
        if len(people) > 1
    ]
    half, whole = _split_half([np.array(list(people.values())) for people in shared], seed)
    same = [
        one == other for people in flags.values() for one, other in combinations(people.values(), 2)
    ]
    return {
        "pairs": len(shared),
        "split_half": half,
        "split_half_all": whole,
        "ceiling": None if whole is None else round(max(whole, 0.0) ** 0.5, DECIMALS),
        "others": _with_others(shared),
        "grammar": round(100 * sum(same) / len(same), DECIMALS) if same else None,
    }


def _split_half(
    shared: Sequence[NDArray[np.float64]], seed: int
) -> tuple[float, float] | tuple[None, None]:
    random = generator(seed, "split half")
    correlations = []
    for _ in range(SPLITS):
        first, second = [], []
        for scores in shared:
            mixed = random.permutation(scores)
            # Of an odd number, either half has one more, by the toss of a coin.
            middle = (len(mixed) + int(random.integers(2))) // 2
            first.append(float(mixed[:middle].mean()))
            second.append(float(mixed[middle:].mean()))
        correlations.append(spearman(np.array(first), np.array(second)))
    known = [value for value in correlations if value is not None]
    if not known:
        return None, None
    half = sum(known) / len(known)
    # At -1 the formula has no value: such halves agree in nothing.
    whole = 2 * half / (1 + half) if half > 0 else half
    return round(half, DECIMALS), round(whole, DECIMALS)


def _with_others(shared: Sequence[dict[str, float]]) -> float | None:
    by_person: dict[str, tuple[list[float], list[float]]] = {}
    for people in shared:
        total = sum(people.values())
        for name, score in people.items():
            scores, others = by_person.setdefault(name, ([], []))
            scores.append(score)
            others.append((total - score) / (len(people) - 1))
    correlations = [
        (len(scores), spearman(np.array(scores), np.array(others)))
        for scores, others in by_person.values()
        if len(scores) >= MIN_SHARED
    ]
    weighted = [(count, value) for count, value in correlations if value is not None]
    weight = sum(count for count, _ in weighted)
    if not weight:
        return None
    return round(sum(count * value for count, value in weighted) / weight, DECIMALS)
