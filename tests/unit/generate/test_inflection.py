import pytest

from workflow_scripts.stages.generate.inflection import inflections


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
