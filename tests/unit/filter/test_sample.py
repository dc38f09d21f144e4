import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.stages.filter.sample import NOWHERE, last_distinct, last_within, place

weighted = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True) | st.sampled_from([0.5, 0.25]), st.integers(0, 9)),
    max_size=30,
)


@pytest.mark.slow
@settings(deadline=None)
@given(weighted, st.integers(1, 60))
def test_the_weights_up_to_it_are_within_the_limit(numbers, limit):
    places = [((number, "a", rank), weight) for rank, (number, weight) in enumerate(numbers)]
    last, total = NOWHERE, 0
    for found, weight in sorted(places):
        total += weight
        if total > limit:
            break
        last = found
    assert last_within(lambda: iter(places), limit) == last


def test_places_follow_from_seed_id_and_rank():
    places = {place(seed, name, rank) for seed in (1, 2) for name in "ab" for rank in (1, 2)}
    assert len({number for number, *_ in places}) == 8
    assert place(1, "a", 1) == place(1, "a", 1)


@pytest.mark.parametrize("limit", [1, 7, 40, 41, 100])
def test_the_last_of_so_many_different_places(limit):
    places = [place(1, f"c:{number % 40}", 1) for number in range(300)]
    assert last_distinct(places, limit) == sorted(set(places))[min(limit, 40) - 1]
    assert last_distinct([], limit) == NOWHERE
