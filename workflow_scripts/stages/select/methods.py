"""The ways of choosing paraphrases among the scored candidates of one reference.

All NLLs are in nats per target token; lower is better. A judge's probability is better where it is
higher. Ties go to the smaller text.
"""

from collections import Counter
from collections.abc import Callable, Hashable
from typing import NamedTuple

from workflow_scripts.core.files.rows import JudgedCandidate
from workflow_scripts.core.text.normalisation import letters_and_digits
from workflow_scripts.stages.score.near_doubles import word_changes
from workflow_scripts.stages.select.cluster import medoid_clusters
from workflow_scripts.stages.select.piece_distance import distance_matrix, tokens

# What can keep a candidate out, in the order in which it is tested.
ABOVE_THRESHOLD = "above_threshold"  # its sum exceeds the threshold, or it was pruned
SAME_AS_REFERENCE = "same_as_reference"  # equal but for case, punctuation and blanks
BELOW_PROBABILITY = "below_probability"  # the judge finds it too unlikely to be good
FEW_NEW_WORDS = "few_new_words"  # its content words are nearly those of the reference
NEARLY_EQUAL = "nearly_equal"  # a near double of a better candidate, or spelt as the reference is
REFERENCE_CLUSTER = "reference_cluster"  # too close to the reference
OUTRANKED = "outranked"  # a better one of its cluster was taken, or the list was full
# Every record counts these. What a later rule keeps out is counted where there is any, so that
# records of runs without the rule stay as they are.
REASONS = (
    ABOVE_THRESHOLD,
    SAME_AS_REFERENCE,
    BELOW_PROBABILITY,
    NEARLY_EQUAL,
    REFERENCE_CLUSTER,
    OUTRANKED,
)

# What ranks candidates, best first.
RANKS: dict[str, Callable[[JudgedCandidate], tuple[float, str]]] = {
    "sum": lambda candidate: (_number(candidate["sum"]), candidate["text"]),
    "forward_nll": lambda candidate: (candidate["forward_nll"], candidate["text"]),
    "judge": lambda candidate: (-_number(candidate["probability"]), candidate["text"]),
    "rank": lambda candidate: (0.0, ""),  # the order in which a merge lists them
}


def _number(value: float | None) -> float:
    assert value is not None  # eligible candidates have it
    return value


class Choice(NamedTuple):
    """A chosen candidate and the cluster it is the best of (None where there are no clusters)."""

    candidate: JudgedCandidate
    cluster: int | None


def eligible(
    candidates: list[JudgedCandidate],
    reference: str,
    max_sum: float,
    min_probability: float | None = None,
) -> tuple[list[JudgedCandidate], Counter[str]]:
    """Return the candidates that may be chosen, and how many may not, by reason.

    Args:
        candidates: those of one reference.
        reference: a candidate that equals it but for case, punctuation and blanks is no
            paraphrase.
        max_sum: the largest sum allowed, in nats.
        min_probability: the least probability allowed, which a candidate that was not judged
            misses; None where there is no judge.
    """
    reference_key = letters_and_digits(reference)
    allowed = []
    rejected: Counter[str] = Counter()
    for candidate in candidates:
        total, probability = candidate["sum"], candidate["probability"]
        if total is None or total > max_sum:
            rejected[ABOVE_THRESHOLD] += 1
        elif letters_and_digits(candidate["text"]) == reference_key:
            rejected[SAME_AS_REFERENCE] += 1
        elif min_probability is not None and (probability is None or probability < min_probability):
            rejected[BELOW_PROBABILITY] += 1
        else:
            allowed.append(candidate)
    return allowed, rejected


def with_new_words(
    candidates: list[JudgedCandidate], reference: str, least: int, language: str
) -> tuple[list[JudgedCandidate], Counter[str]]:
    """Return the candidates with enough content words of their own, and how many are left out.

    Args:
        candidates: eligible ones of one reference.
        reference: of these candidates.
        least: how many content words that the reference has not.
        language: of the texts (ISO 639).
    """
    enough = [
        candidate
        for candidate in candidates
        if word_changes(reference, candidate["text"], language)[0] >= least
    ]
    return enough, Counter({FEW_NEW_WORDS: len(candidates) - len(enough)})


def distinct(
    candidates: list[JudgedCandidate],
    reference: str,
    score: str,
    spelt: Callable[[str], Hashable],
    content: Callable[[str], Hashable] | None = None,
) -> tuple[list[JudgedCandidate], Counter[str]]:
    """Return one candidate of those that are nearly equal, the best, and how many are left out.

    A candidate that is spelt nearly as the reference is left out as well.

    Args:
        candidates: eligible ones of one reference.
        reference: of these candidates.
        score: a name of `RANKS`.
        spelt: gives what texts that are spelt nearly equally have in common.
        content: gives what texts of the same content have in common; None: that is no matter.
    """
    seen = {spelt(reference)}
    best = []
    for candidate in sorted(candidates, key=RANKS[score]):
        text = candidate["text"]
        keys = {spelt(text)} if content is None else {spelt(text), content(text)}
        if seen.isdisjoint(keys):
            seen |= keys
            best.append(candidate)
    return best, Counter({NEARLY_EQUAL: len(candidates) - len(best)})


def cluster_bests(
    candidates: list[JudgedCandidate],
    reference: str,
    segment: Callable[[str], list[str]],
    clusters: int,
    best: int,
    score: str = "sum",
    centres: str = "apart",
) -> tuple[list[Choice], Counter[str]]:
    """Choose the best candidate of each cluster but the reference's (ParaBank 2, 2.3).

    Args:
        candidates: eligible ones of one reference.
        reference: the centre of one more cluster, never moved, from which nothing is taken.
        segment: gives the Viterbi pieces of a text.
        clusters: how many clusters besides the reference's (7 in ParaBank 2).
        best: how many of their bests to return, the best first (5 in ParaBank 2).
        score: a name of `RANKS` (the sum in ParaBank 2).
        centres: a name of `cluster.CENTRES`: how the clusters begin.
    """
    ranked = sorted(candidates, key=RANKS[score])
    sentences = [reference, *(candidate["text"] for candidate in ranked)]
    distances = distance_matrix([tokens(segment(sentence)) for sentence in sentences])
    labels = medoid_clusters(distances, clusters, centres)[1:].tolist()
    leaders: dict[int, JudgedCandidate] = {}
    for candidate, cluster in zip(ranked, labels, strict=True):
        if cluster != 0:
            leaders.setdefault(cluster, candidate)
    chosen = [Choice(candidate, cluster) for cluster, candidate in leaders.items()][:best]
    close = labels.count(0)
    return chosen, Counter({REFERENCE_CLUSTER: close, OUTRANKED: len(ranked) - close - len(chosen)})


def bests(
    candidates: list[JudgedCandidate], best: int, score: str
) -> tuple[list[Choice], Counter[str]]:
    """Choose the `best` candidates: by forward NLL it is an n-best list of the search.

    Args:
        candidates: eligible ones of one reference.
        best: how many at most.
        score: a name of `RANKS`.
    """
    ranked = sorted(candidates, key=RANKS[score])
    chosen = [Choice(candidate, None) for candidate in ranked[:best]]
    return chosen, Counter({OUTRANKED: len(ranked) - len(chosen)})
