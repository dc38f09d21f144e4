"""Planning with lexicons: which units there are, what they read, what is refused beforehand."""

import pytest

from tests.configs import keys
from tests.unit.lexicon.conftest import with_lexicon
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.selection import used
from workflow_scripts.stages.catalogue import run_layout, validate
from workflow_scripts.stages.lexicon.checks import problems


def test_without_lexicons_there_is_nothing_of_the_stage(config):
    layout = run_layout(config)
    assert not [unit for unit in layout.units() if unit[0] == "lexicon"]
    config["lexicons"] = {"phrases": {"training_sets": ["all"]}}
    assert run_layout(config).key("release") == layout.key("release")
    assert used(config)["lexicons"] == {}
    assert "lexicons" not in layout.declaration("release").released_tables()


def test_units_in_their_order_and_no_other_unit_changes(config):
    before, layout = keys(run_layout(config)), run_layout(with_lexicon(config))
    after = keys(layout)
    names = ["phrases-words", "phrases-counts", "phrases", "phrases-measures"]
    assert [unit for unit in after if unit[0] == "lexicon"] == [("lexicon", name) for name in names]
    assert before.items() <= after.items()
    assert layout.upstream(("lexicon", names[0])) == [("filter", "all-parabank2")]
    files = layout.declaration("lexicon").files("phrases-counts")
    assert {"0000.parquet", "0000-across.parquet", "0001-within.parquet"} <= set(files)
    released = layout.upstream(("release", None))
    assert set(released) >= {("lexicon", name) for name in names}


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"max_tokens": 20}, 0),
        ({"sample": 10}, 0),
        ({"max_words": 2}, 1),
        ({"min_count": 3}, 0),
        ({"attested": False}, 2),
    ],
)
def test_a_key_changes_what_depends_on_it_and_no_more(config, changes, same):
    names = ("phrases-words", "phrases-counts", "phrases")
    one, other = (run_layout(with_lexicon(config, **options)) for options in ({}, changes))
    unchanged = [one.key("lexicon", name) == other.key("lexicon", name) for name in names]
    assert unchanged == [place < same for place in range(3)]


def test_a_released_corpus_says_nothing_of_lexicons(config):
    one, other = map(run_layout, (config, with_lexicon(config)))
    assert one.declaration("release").system_settings("parabank2") == other.declaration(
        "release"
    ).system_settings("parabank2")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"training_sets": ["other"]}, "'other' is not among run.training_sets"),
        ({"systems": ["other"]}, "none of its training sets is of 'other'"),
    ],
)
def test_a_block_that_can_not_be_is_refused_beforehand(config, changes, message):
    assert message in "\n".join(problems(with_lexicon(config, **changes)))


@pytest.mark.parametrize(
    "changes", [{"max_words": 4}, {"min_count": 0}, {"sample": 0}, {"training_sets": []}, {"a": 1}]
)
def test_the_schema_refuses_what_can_not_be(config, changes):
    with pytest.raises(InputError, match=r"lexicons\.phrases"):
        validate(with_lexicon(config, **changes))


def test_an_unknown_lexicon_and_a_grid_are_refused(config):
    other = with_lexicon(config)
    other["run"]["lexicons"] = ["phrase"]
    assert "phrase" in "\n".join(problems(other))
    other = with_lexicon(config)
    other["training_sets"]["all"] = {"grid": {"ranks": [1, 2]}}
    assert "has a grid" in "\n".join(problems(other))
