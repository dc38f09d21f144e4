import numpy as np
import pytest

from workflow_scripts.stages.encoder.neighbours import NONE, Exact, Inverted, ranked, search


def vectors(count, size=24, seed=1):
    """Return vectors in clumps, as those of sentences are."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(20, size))
    made = centres[random.integers(20, size=count)] + 0.4 * random.normal(size=(count, size))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def test_exact_neighbours_are_those_of_all_cosines():
    given = vectors(60)
    queries = np.array([3, 0, 59])
    found, cosines = ranked(Exact(given), given, queries, 5)
    likeness = given[queries].astype(np.float64) @ given.T.astype(np.float64)
    expected = np.argsort(-likeness, axis=1)[:, :5]
    assert found.tolist() == expected.tolist()
    assert found[:, 0].tolist() == queries.tolist()
    assert cosines == pytest.approx(np.take_along_axis(likeness, expected, 1), abs=1e-6)


def test_equal_vectors_stand_by_their_numbers():
    given = np.tile(vectors(1), (6, 1))
    found, _ = ranked(Exact(given), given, np.array([4]), 4)
    assert found.tolist() == [[0, 1, 2, 3]]


def test_how_many_vectors_are_read_at_once_changes_nothing(monkeypatch):
    given, queries = vectors(200), np.arange(200)
    whole = ranked(Exact(given), given, queries, 20)
    monkeypatch.setattr("workflow_scripts.stages.encoder.neighbours._GATHERED", 1)
    parts = ranked(Exact(given), given, queries, 20)
    assert all(np.array_equal(one, other) for one, other in zip(whole, parts, strict=True))


def test_an_inverted_file_finds_what_is_near():
    """With all cells it finds almost what the exact search does; with one cell less."""
    given, queries = vectors(2000), np.arange(0, 2000, 10)
    exact, cosines = ranked(Exact(given), given, queries, 5)

    def recall(probes):
        found, near = ranked(Inverted(given, probes, 1, cells=30), given, queries, 5)
        assert (np.diff(near, axis=1) <= 0).all()
        same = exact[:, :5, None] == found[:, None, :5]
        right = same.any(axis=2)
        assert near[:, 0] == pytest.approx(cosines[:, 0], abs=1e-6)
        return right.mean()

    assert recall(1) < recall(30)
    assert recall(30) > 0.99


def test_an_inverted_file_is_the_same_each_time():
    given, queries = vectors(1000), np.arange(50)
    one, other = (Inverted(given, 2, 7, cells=20).nearest(queries, 6) for _ in range(2))
    assert one.tolist() == other.tolist()


def test_where_cells_hold_too_few_there_is_none():
    given = vectors(100)
    found, cosines = ranked(Inverted(given, 1, 1, cells=20), given, np.array([5]), 90)
    assert NONE in found[0]
    assert np.isneginf(cosines[found == NONE]).all()
    kept = found[0] != NONE
    assert kept[: kept.sum()].all()  # they stand behind all others


def test_few_sentences_are_searched_exactly(monkeypatch):
    given = vectors(50)
    assert isinstance(search(given, {"probes": 2}, 1), Exact)
    monkeypatch.setattr("workflow_scripts.stages.encoder.neighbours.EXACT", 49)
    assert isinstance(search(given, {"probes": 2}, 1), Inverted)
