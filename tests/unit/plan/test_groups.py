import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.reference_groups import group_of, held_out_and_seen


def test_groups_keep_the_order_of_the_corpora():
    groups = held_out_and_seen(["c", "a", "b"], ["x", "b", "c"])
    assert list(groups.items()) == [("held_out", ["a"]), ("seen", ["c", "b"])]


def test_group_of():
    groups = {"seen": ["x", "y"], "held_out": ["z"]}
    assert group_of(groups) == {"x": "seen", "y": "seen", "z": "held_out"}


def test_a_corpus_in_two_groups_is_refused():
    with pytest.raises(InputError, match="'x' is both in seen and in held_out"):
        group_of({"seen": ["x"], "held_out": ["y", "x"]})
