import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import tables
from workflow_scripts.stages.select.cluster import medoid_clusters
from workflow_scripts.stages.select.methods import bests, cluster_bests, distinct, eligible
from workflow_scripts.stages.select.piece_distance import distance_matrix, tokens

REFERENCE = "a b c d"


def candidate(text, total=1.0, forward=0.5, probability=None):
    backward = None if total is None else total - forward
    return tables.candidate(text, forward, backward, sum=total, probability=probability)


texts = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6).map(" ".join)
candidate_lists = st.lists(texts, unique=True, max_size=12).flatmap(
    lambda drawn: st.tuples(
        *(st.builds(candidate, st.just(text), st.integers(1, 5).map(float)) for text in drawn)
    ).map(list)
)


@pytest.mark.slow
@given(candidate_lists, st.randoms(), st.integers(1, 7), st.integers(1, 5))
def test_cluster_bests(candidates, random, clusters, best):
    kept, rejected = eligible(candidates, REFERENCE, 4.0)
    chosen, outdone = cluster_bests(kept, REFERENCE, str.split, clusters, best)
    shuffled = random.sample(kept, len(kept))
    assert cluster_bests(shuffled, REFERENCE, str.split, clusters, best) == (chosen, outdone)
    assert len(chosen) <= min(best, clusters)
    assert REFERENCE not in [choice.candidate["text"] for choice in chosen]
    sums = [choice.candidate["sum"] for choice in chosen]
    assert sums == sorted(sums)
    numbers = [choice.cluster for choice in chosen]
    assert len(set(numbers)) == len(numbers) and 0 not in numbers
    assert len(chosen) + sum((rejected + outdone).values()) == len(candidates)
    # Each is the best of its cluster, and no left-out cluster has a better one.
    ranked = sorted(kept, key=lambda item: (item["sum"], item["text"]))
    sentences = [REFERENCE, *(item["text"] for item in ranked)]
    labels = medoid_clusters(
        distance_matrix([tokens(sentence.split()) for sentence in sentences]), clusters
    )[1:]
    leaders = [
        next(item for item, label in zip(ranked, labels, strict=True) if label == cluster)
        for cluster in set(labels.tolist()) - {0}
    ]
    leaders.sort(key=lambda item: (item["sum"], item["text"]))
    assert [choice.candidate for choice in chosen] == leaders[:best]


def test_near_copies_of_the_reference_are_not_chosen():
    close = [candidate("a b c e", 0.1), candidate("a b d", 0.2)]
    far = [candidate("x y z u v w q", 3.0), candidate("x y z u v w", 2.0)]
    chosen, outdone = cluster_bests(close + far, REFERENCE, str.split, 1, 5)
    assert [choice.candidate["text"] for choice in chosen] == ["x y z u v w"]
    assert outdone == {"reference_cluster": 2, "outranked": 1}


def test_eligible_counts_every_reason():
    candidates = [
        candidate("A, b c d!", 0.1),
        candidate("ab cd", 0.1),
        candidate("e f", 3.5),
        candidate("g h", 3.51),
        candidate("i j", None, forward=4.0),
    ]
    kept, rejected = eligible(candidates, REFERENCE, 3.5)
    assert [item["text"] for item in kept] == ["e f"]
    assert rejected == {"same_as_reference": 2, "above_threshold": 2}


@pytest.mark.parametrize("best", [1, 2, 5])
def test_the_lowest_forward_nll_ignores_the_sum(best):
    candidates = [
        candidate("b", 1.0, forward=0.9),
        candidate("d", 3.0, forward=0.1),
        candidate("c", 2.0, forward=0.1),
    ]
    chosen, outdone = bests(candidates, best, "forward_nll")
    assert [choice.candidate["text"] for choice in chosen] == ["c", "d", "b"][:best]
    assert outdone["outranked"] == max(0, 3 - best)


JUDGED = [
    candidate("b", 1.0, 0.9, probability=0.5),
    candidate("d", 3.0, 0.1, probability=0.75),
    candidate("c", 2.0, 0.2, probability=0.75),
]


@pytest.mark.parametrize(
    ("score", "order"), [("sum", "bcd"), ("forward_nll", "dcb"), ("judge", "cdb")]
)
def test_scores_rank_from_the_best(score, order):
    chosen, outdone = bests(JUDGED, 3, score)
    assert "".join(choice.candidate["text"] for choice in chosen) == order
    assert not +outdone
    chosen, _ = cluster_bests(JUDGED, REFERENCE, str.split, 3, 3, score)
    assert "".join(choice.candidate["text"] for choice in chosen) == order


def test_a_judge_keeps_out_what_is_too_unlikely_and_what_it_never_saw():
    candidates = [
        candidate("A, b c d!", 0.1),
        candidate("e f", 0.1, probability=0.5),
        candidate("g h", 0.1, probability=0.49),
        candidate("i j", 0.1),
        candidate("k l", 4.0, probability=0.9),
    ]
    kept, rejected = eligible(candidates, REFERENCE, 3.5, 0.5)
    assert [item["text"] for item in kept] == ["e f"]
    assert rejected == {"same_as_reference": 1, "below_probability": 2, "above_threshold": 1}
    assert eligible(candidates, REFERENCE, 3.5, 0.0)[1]["below_probability"] == 1


def test_of_nearly_equal_candidates_the_best_stays():
    candidates = [
        candidate("ab c", 1.0, probability=0.5),
        candidate("AB, c!", 2.0, probability=0.75),
        candidate("x", 3.0, probability=0.25),
        candidate("a-b-c-d", 0.5, probability=0.9),
    ]
    spelt = {"a b c d": "r", "a-b-c-d": "r", "ab c": "1", "AB, c!": "1", "x": "2"}.get
    for score, texts in (("judge", ["AB, c!", "x"]), ("sum", ["ab c", "x"])):
        kept, left_out = distinct(candidates, REFERENCE, score, spelt)
        assert [item["text"] for item in kept] == texts
        assert left_out == {"nearly_equal": 2}
    # "x" has the content of a better one; that of the reference is no reason.
    content = {"ab c": "C", "AB, c!": "D", "x": "C", "a b c d": "D", "a-b-c-d": "D"}.get
    for score, texts in (("judge", ["AB, c!", "x"]), ("sum", ["ab c"])):
        kept, _ = distinct(candidates, REFERENCE, score, spelt, content)
        assert [item["text"] for item in kept] == texts
