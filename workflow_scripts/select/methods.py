"""The ways of choosing paraphrases among the scored candidates of one reference.

All NLLs are in nats per target token; lower is better. Ties in a score go to the smaller text.
"""

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from workflow_scripts.core.rows import ScoredCandidate
from workflow_scripts.core.text import letters_and_digits
from workflow_scripts.select.cluster import medoid_clusters
from workflow_scripts.select.distance import distance_matrix, tokens

# What can keep a candidate out, in the order in which it is tested.
ABOVE_THRESHOLD = "above_threshold"  # its sum exceeds the threshold, or it was pruned
SAME_AS_REFERENCE = "same_as_reference"  # equal but for case, punctuation and blanks
REFERENCE_CLUSTER = "reference_cluster"  # too close to the reference
OUTRANKED = "outranked"  # a better one of its cluster was taken, or the list was full
REASONS = (ABOVE_THRESHOLD, SAME_AS_REFERENCE, REFERENCE_CLUSTER, OUTRANKED)


class Choice(NamedTuple):
    """A chosen candidate and the cluster it is the best of (None where there are no clusters)."""

    candidate: ScoredCandidate
    cluster: int | None


def eligible(
    candidates: list[ScoredCandidate], reference: str, max_sum: float
) -> tuple[list[ScoredCandidate], Counter[str]]:
    """Return the candidates that may be chosen, and how many may not, by reason.

    Args:
        candidates: those of one reference.
        reference: a candidate that equals it but for case, punctuation and blanks is no
            paraphrase.
        max_sum: the largest sum allowed, in nats.
    """
    reference_key = letters_and_digits(reference)
    kept = []
    rejected: Counter[str] = Counter()
    for candidate in candidates:
        total = candidate["sum"]
        if total is None or total > max_sum:
            rejected[ABOVE_THRESHOLD] += 1
        elif letters_and_digits(candidate["text"]) == reference_key:
            rejected[SAME_AS_REFERENCE] += 1
        else:
            kept.append(candidate)
    return kept, rejected


def cluster_bests(
    candidates: list[ScoredCandidate],
    reference: str,
    segment: Callable[[str], list[str]],
    clusters: int,
    best: int,
) -> tuple[list[Choice], Counter[str]]:
    """Choose the best candidate by sum of each cluster but the reference's (ParaBank 2, 2.3).

    Args:
        candidates: eligible ones of one reference; each has a sum.
        reference: the centre of one more cluster, never moved, from which nothing is taken.
        segment: gives the Viterbi pieces of a text.
        clusters: how many clusters besides the reference's (7 in ParaBank 2).
        best: how many of their bests to return, lowest sum first (5 in ParaBank 2).
    """
    ranked = sorted(candidates, key=lambda candidate: (candidate["sum"], candidate["text"]))
    sentences = [reference, *(candidate["text"] for candidate in ranked)]
    distances = distance_matrix([tokens(segment(sentence)) for sentence in sentences])
    labels = medoid_clusters(distances, clusters)[1:].tolist()
    leaders: dict[int, ScoredCandidate] = {}
    for candidate, cluster in zip(ranked, labels, strict=True):
        if cluster != 0:
            leaders.setdefault(cluster, candidate)
    chosen = [Choice(candidate, cluster) for cluster, candidate in leaders.items()][:best]
    close = labels.count(0)
    return chosen, Counter({REFERENCE_CLUSTER: close, OUTRANKED: len(ranked) - close - len(chosen)})


def forward_bests(
    candidates: list[ScoredCandidate], best: int
) -> tuple[list[Choice], Counter[str]]:
    """Choose the `best` candidates with the lowest forward NLL: an n-best list of the search."""
    ranked = sorted(candidates, key=lambda candidate: (candidate["forward_nll"], candidate["text"]))
    chosen = [Choice(candidate, None) for candidate in ranked[:best]]
    return chosen, Counter({OUTRANKED: len(ranked) - len(chosen)})
