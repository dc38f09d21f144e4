from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.stages.select.cluster import CENTRES, furthest_first, medoid_clusters
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


def cost(distances, medoids):
    return distances[list(medoids)].min(axis=0).sum()


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
    assert CENTRES["far"](distances, 4) == [0, 2, 3, 1]


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


@pytest.mark.slow
@given(matrices(), st.integers(1, 8))
def test_is_a_local_optimum_with_the_reference_pinned(distances, clusters):
    labels = medoid_clusters(distances, clusters)
    assert labels[0] == 0
    assert (labels[distances[0] == 0] == 0).all()
    # Some medoid of each cluster explains the labels: nothing is nearer to another cluster's.
    medoids = [0]
    candidates = []
    for cluster in range(1, labels.max() + 1):
        members = np.flatnonzero(labels == cluster)
        assert len(members)
        inner = distances[np.ix_(members, members)].sum(axis=0, dtype=int)
        candidates.append(members[inner == inner.min()].tolist())
    assert any(
        (
            distances[labels_to_points(labels, medoids + list(choice)), range(len(labels))]
            == distances[medoids + list(choice)].min(axis=0)
        ).all()
        for choice in product(*candidates)
    )


def labels_to_points(labels, medoids):
    return np.array(medoids)[labels]


@pytest.mark.parametrize("seed", range(20))
def test_clearly_separated_groups_are_found(seed):
    """Brute force: on separated groups the best of all choices of medoids is what comes out."""
    rng = np.random.default_rng(seed)
    groups = [["x", "y", "z", "w"], list("abcdefgh"), list("ijklmnopqr"), list("st")]
    sentences = [groups[0]]
    truth = [0]
    for label, centre in enumerate(groups):
        for _ in range(3):
            sentence = list(centre)
            sentence[rng.integers(len(sentence))] = f"new{rng.integers(100)}"
            sentences.append(sentence)
            truth.append(label)
    order = [0, *(1 + rng.permutation(len(sentences) - 1))]
    distances = distance_matrix([sentences[point] for point in order]).astype(int)
    labels = medoid_clusters(distances, 3)
    expected = np.array(truth)[order]
    same = labels[:, None] == labels[None, :]
    assert (same == (expected[:, None] == expected[None, :])).all()
    points = range(1, len(order))
    best = min(cost(distances, (0, *medoids)) for medoids in product(points, repeat=3))
    found = sum(
        distances[np.ix_(members, members)].sum(axis=0).min()
        for members in (np.flatnonzero(labels == label) for label in range(1, 4))
    )
    assert found + distances[0][labels == 0].sum() == best


def test_furthest_first_starts_with_the_reference_and_stops_at_duplicates():
    line = np.abs(np.subtract.outer([0, 1, 5, 9, 9], [0, 1, 5, 9, 9]))
    assert furthest_first(line, 2) == [0, 3, 2]
    assert furthest_first(line, 7) == [0, 3, 2, 1]


def test_the_reference_cluster_is_never_recentred():
    # Points on a line: 1, 2 and 3 stand right of the reference at 0, all nearest to it; were it
    # re-centred on 2, the point at 9 would change sides.
    places = [0, 2, 3, 4, 9, 16]
    distances = np.abs(np.subtract.outer(places, places))
    assert medoid_clusters(distances, 1).tolist() == [0, 0, 0, 0, 1, 1]
