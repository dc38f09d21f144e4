"""Which paraphrases a person sees next (EASL)."""

import pytest
from scipy.stats import beta

from workflow_scripts.apps.annotate.allocation import Open, choose


def first_lot(item):
    return 0.5


def item(number, reference="r", judgments=0, points=0.0, scores=0):
    return Open(number, reference, judgments, points, scores)


@pytest.mark.parametrize("scores", [[], [1.0], [0.5], [0.0, 1.0], [0.9, 0.8, 1.0], [0.2] * 7])
def test_the_variance_is_that_of_the_beta_distribution(scores):
    variance = item(1, points=sum(scores), scores=len(scores)).variance
    alpha, other = 1 + sum(scores), 1 + sum(1 - score for score in scores)
    assert variance == pytest.approx(beta(alpha, other).var())


def test_what_nobody_judged_comes_before_all_else():
    items = [item(1, "a", 1, 0.5, 1), item(2, "b"), item(3, "b", 1, 0.5, 1), item(4, "b")]
    assert [chosen.number for chosen in choose(items, 3, 5, first_lot)] == [2, 4]


def test_then_the_greatest_variance_comes_first():
    sure, unsure = item(1, "a", 2, 2.0, 2), item(2, "b", 2, 1.0, 2)
    assert sure.variance < unsure.variance
    assert choose([sure, unsure], 3, 5, first_lot) == [unsure]


def test_what_enough_people_judged_comes_last_however_unsure():
    needed, enough = item(1, "a", 2, 2.0, 2), item(2, "b", 3, 1.5, 3)
    assert needed.variance < enough.variance
    assert choose([enough, needed], 3, 5, first_lot) == [needed]
    assert choose([enough], 3, 5, first_lot) == [enough]


def test_a_paraphrase_without_a_score_stays_as_unsure_as_before():
    assert item(1, judgments=2).variance == item(2).variance


@pytest.mark.parametrize(
    ("count", "sizes"), [(1, [1]), (5, [5]), (6, [3, 3]), (7, [4, 3]), (11, [4, 4, 3])]
)
def test_many_paraphrases_are_spread_evenly_over_pages(count, sizes):
    left = [item(number) for number in range(count)]
    lengths = []
    while left:
        page = choose(left, 1, 5, first_lot)
        lengths.append(len(page))
        left = [other for other in left if other not in page]
    assert lengths == sizes


def test_a_page_has_one_reference_which_the_lot_decides_among_equals():
    items = [item(n, "ab"[n % 2]) for n in range(6)]
    page = choose(items, 1, 5, lambda shown: {"a": 0.9, "b": 0.1}[shown.reference])
    assert {shown.reference for shown in page} == {"b"}
    assert len(page) == 3


def test_there_is_no_page_without_paraphrases():
    assert choose([], 3, 5, first_lot) == []
