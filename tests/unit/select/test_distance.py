import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.stages.select.piece_distance import distance_matrix, token, tokens

sentences = st.lists(st.lists(st.sampled_from("abcd"), max_size=8), max_size=6)


def levenshtein(first, second):
    """The textbook recurrence."""
    row = list(range(len(second) + 1))
    for i, left in enumerate(first, start=1):
        previous, row = row, [i]
        for j, right in enumerate(second, start=1):
            row.append(min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (left != right)))
    return row[-1]


def test_tokens_drop_punctuation_case_and_lone_boundaries():
    pieces = ["▁", "“", "▁Don", "'", "t", "▁-", "▁pay", "▁$", "5", ".", "▁(", "Now", ")"]
    assert tokens(pieces) == ["▁don", "t", "▁pay", "5", "now"]


def test_token_keeps_accents_and_marks_of_other_scripts():
    assert token("▁Žluťoučký") == "▁žluťoučký"
    assert token("हिन्दी") == "हिन्दी"


@pytest.mark.slow
@given(sentences)
def test_distances_are_those_of_the_textbook(drawn):
    distances = distance_matrix(drawn)
    assert distances.shape == (len(drawn), len(drawn)) or not drawn
    for i, first in enumerate(drawn):
        for j, second in enumerate(drawn):
            assert distances[i, j] == levenshtein(first, second)


@pytest.mark.slow
def test_distances_beyond_255_do_not_wrap():
    first, second = [f"a{i}" for i in range(300)], [f"b{i}" for i in range(70_000)]
    distances = distance_matrix([first, second])
    assert distances[0, 1] == 70_000
