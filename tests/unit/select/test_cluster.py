import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.stages.select.cluster import CENTRES, medoid_clusters
from workflow_scripts.stages.select.piece_distance import distance_matrix


@st.composite
def matrices(draw):
    words = st.lists(st.sampled_from("abc"), min_size=1, max_size=6)
    return distance_matrix(draw(st.lists(words, min_size=1, max_size=14)))


def begin_apart(distance, clusters):
    medoids = [0]
    for _ in range(clusters):
        gaps = [min(row[medoid] for medoid in medoids) for row in distance]
        if max(gaps) > 0:
            medoids.append(gaps.index(max(gaps)))
    return medoids


def begin_far(distance, clusters):
    medoids = [0]
    for point in sorted(range(len(distance)), key=lambda point: (-distance[0][point], point)):
        new = all(distance[point][medoid] > 0 for medoid in medoids)
        if new and len(medoids) <= clusters:
            medoids.append(point)
    return medoids


BEGIN = {"apart": begin_apart, "far": begin_far}


def cluster_by_the_book(distances, clusters, centres="apart"):
    """The same algorithm in plain loops over Python integers."""
    distance = [[int(value) for value in row] for row in distances]
    points = range(len(distance))
    medoids = BEGIN[centres](distance, clusters)
    while True:
        labels = []
        for point in points:
            to_medoids = [distance[point][medoid] for medoid in medoids]
            labels.append(to_medoids.index(min(to_medoids)))
        moved = [0]
        for cluster in range(1, len(medoids)):
            members = [point for point in points if labels[point] == cluster]
            costs = {point: sum(distance[point][other] for other in members) for point in members}
            best = min(costs.values())
            stays = costs[medoids[cluster]] == best
            moved.append(
                medoids[cluster]
                if stays
                else min(point for point, cost in costs.items() if cost == best)
            )
        if moved == medoids:
            return labels
        medoids = moved


@pytest.mark.slow
@pytest.mark.parametrize("centres", CENTRES)
@given(matrices(), st.integers(1, 8))
def test_agrees_with_plain_loops(centres, distances, clusters):
    found = medoid_clusters(distances, clusters, centres).tolist()
    assert found == cluster_by_the_book(distances, clusters, centres)


def test_clusters_begin_apart_or_far_from_the_reference():
    """Two readings of "initialized with the k furthest candidates" (ParaBank 2, 2.3)."""
    reference, near, far = list("aaaaaa"), list("aaaabb"), list("cccccc")
    sentences = [reference, near, far, [*far[:-1], "d"], far]
    distances = distance_matrix(sentences)
    assert CENTRES["apart"](distances, 2) == [0, 2, 1]
    assert CENTRES["far"](distances, 2) == [0, 2, 3]
    # The copy of a centre can't be one.
    for begin, centres in (("apart", [0, 2, 1, 3]), ("far", [0, 2, 3, 1])):
        assert CENTRES[begin](distances, 4) == centres


@pytest.mark.slow
@given(matrices(), st.integers(1, 8))
def test_no_cluster_is_empty_however_they_begin(distances, clusters):
    for begin in CENTRES.values():
        medoids = begin(distances, clusters)
        assert medoids[0] == 0
        between = distances[np.ix_(medoids, medoids)]
        assert (between[~np.eye(len(medoids), dtype=bool)] > 0).all()


@pytest.mark.parametrize("seed", range(50))
def test_agrees_with_plain_loops_on_many_candidates(seed):
    rng = np.random.default_rng(seed)
    sentences = [rng.choice(list("abcd"), rng.integers(1, 8)).tolist() for _ in range(60)]
    distances = distance_matrix(sentences)
    assert medoid_clusters(distances, 7).tolist() == cluster_by_the_book(distances, 7)


def test_the_reference_cluster_is_never_recentred():
    # Points on a line: 1, 2 and 3 stand right of the reference at 0, all nearest to it; were it
    # re-centred on 2, the point at 9 would change sides.
    places = [0, 2, 3, 4, 9, 16]
    distances = np.abs(np.subtract.outer(places, places))
    assert medoid_clusters(distances, 1).tolist() == [0, 0, 0, 0, 1, 1]
