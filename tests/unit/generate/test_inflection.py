import pytest

from workflow_scripts.stages.generate.inflection import inflections, other_verb_forms


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("told", {"tell", "tells", "telling", "told"}),
        ("proud", {"proud", "prouder", "proudest"}),
        ("work", {"work", "works", "worked", "working"}),
        ("for", {"for"}),
        ("to", {"to"}),
        ("blorf", {"blorf"}),
    ],
)
def test_inflections_are_all_forms_of_the_word(word, forms):
    assert inflections(word) == tuple(sorted(forms))


def test_verb_forms_are_the_others_of_what_can_be_a_verb():
    assert other_verb_forms("told") == ("tell", "telling", "tells")
    assert "working" in other_verb_forms("work")
    assert other_verb_forms("proud") == other_verb_forms("for") == ()
