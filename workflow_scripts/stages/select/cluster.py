"""k-means with medoids around a pinned reference (ParaBank 2, 2.3).

Everything here is a function of a distance matrix alone. Point 0 is the reference: the medoid of
cluster 0 for ever. Points 1, 2, ... are the candidates, best first; where a choice is tied, the
lower number wins, so the result does not depend on the order in which candidates were found.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Distances = NDArray[np.unsignedinteger[Any]]
Labels = NDArray[np.int64]


def furthest_first(distances: Distances, clusters: int) -> list[int]:
    """Return the initial medoids: the reference, then always the point furthest from all of them.

    Args:
        distances: (n, n); point 0 is the reference.
        clusters: how many medoids to choose besides the reference.

    Returns:
        1 to `clusters` + 1 points, the reference first. Fewer than asked for where no further
        point differs from those already chosen.
    """
    medoids = [0]
    nearest = distances[0]
    while len(medoids) <= clusters:
        furthest = int(nearest.argmax())
        if nearest[furthest] == 0:
            break
        medoids.append(furthest)
        nearest = np.minimum(nearest, distances[furthest])
    return medoids


def furthest_from_reference(distances: Distances, clusters: int) -> list[int]:
    """Return the initial medoids: the reference, then the candidates that are furthest from it.

    Arguments and result are those of `furthest_first`. A candidate equal to one already chosen
    is passed over.
    """
    medoids = [0]
    nearest = distances[0]
    # Stable, so that of equally far candidates the better comes first.
    for point in np.argsort(-distances[0].astype(np.int64), kind="stable").tolist():
        if len(medoids) > clusters:
            break
        if nearest[point]:
            medoids.append(point)
            nearest = np.minimum(nearest, distances[point])
    return medoids


# How the clusters begin, by `select.centres`: both are readings of "initialized with the k furthest
# candidates measured by edit-distance" (ParaBank 2, 2.3).
CENTRES: dict[str, Callable[[Distances, int], list[int]]] = {
    "apart": furthest_first,
    "far": furthest_from_reference,
}


def assign(distances: Distances, medoids: list[int]) -> Labels:
    """Return for each of the n points the cluster of its nearest medoid; ties go to the lower."""
    return distances[medoids].argmin(axis=0)


def medoid_of(distances: Distances, members: Labels, current: int) -> int:
    """Return the member with the least sum of distances to the members.

    The current medoid stays where it ties with the best, otherwise the lowest number wins.
    """
    sums = distances[np.ix_(members, members)].sum(axis=0, dtype=np.int64)
    best = sums.min()
    return current if sums[members == current] == best else int(members[sums.argmin()])


def medoid_clusters(distances: Distances, clusters: int, centres: str = "apart") -> Labels:
    """Cluster the candidates into at most `clusters` groups besides the reference's own.

    It always ends: a medoid moves only where that lowers the sum of distances to the medoids, so
    no set of medoids comes back, and there are finitely many. No cluster runs empty either: every
    medoid differs from all the others, and is nearest to itself.

    Args:
        distances: (n, n) distances; point 0 is the reference, the others are best first.
        clusters: k, not counting the reference's cluster.
        centres: a name of `CENTRES`.

    Returns:
        (n,) cluster numbers, 0 for the reference's cluster.
    """
    medoids = CENTRES[centres](distances, clusters)
    while True:
        labels = assign(distances, medoids)
        moved = [0] + [
            medoid_of(distances, np.flatnonzero(labels == cluster), medoid)
            for cluster, medoid in enumerate(medoids[1:], start=1)
        ]
        if moved == medoids:
            return labels
        medoids = moved
