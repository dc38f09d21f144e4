import pytest

from workflow_scripts.plan.catalogues.training_sets import columns_of, training_sets, tuned


def config(**entries):
    return {
        "run": {"systems": ["one", "two"], "training_sets": list(entries)},
        "training_sets": {**entries, "unused": {}},
        "seed": 3,
    }


def test_an_entry_is_one_set_of_each_system():
    found = training_sets(config(all={}, some={"systems": ["two"], "sample": 9, "seed": 4}))
    assert list(found) == ["all-one", "all-two", "some-two"]
    assert found["all-one"] == {
        **{"system": "one", "bounds": {}, "folds": None},
        **{"max_tokens": None, "sample": None, "seed": 3},
    }
    assert (found["some-two"]["sample"], found["some-two"]["seed"]) == (9, 4)


def test_ends_of_bounds_are_crossed():
    """Wieting et al. (2017), 5.7: the cross product of lower and upper bounds."""
    ends = {"overlap_1": {"low": [0, 0.1], "high": [0.6, 0.7, 1]}}
    found = training_sets(config(cross={"systems": ["one"], "grid": {"bounds": ends}}))
    assert [each["bounds"]["overlap_1"] for each in found.values()] == [
        *([0, 0.6], [0, 0.7], [0, 1], [0.1, 0.6], [0.1, 0.7], [0.1, 1])
    ]
    open_end = {"translation_cost": {"high": [0.2, 0.3]}}
    found = training_sets(config(cost={"systems": ["one"], "grid": {"bounds": open_end}}))
    assert [each["bounds"]["translation_cost"] for each in found.values()] == [
        *([None, 0.2], [None, 0.3])
    ]


def test_the_points_that_are_tuned_go_by_grid_and_system():
    grid = {"bounds": {"sum": [[0, 1], [1, 2]]}}
    found = tuned(config(all={}, fine={"grid": grid, "tune": True}, plain={"grid": grid}))
    assert found == {
        "fine-one": ["fine-one-1", "fine-one-2"],
        "fine-two": ["fine-two-1", "fine-two-2"],
    }


def test_a_grid_is_one_set_of_each_combination():
    entry = {
        "systems": ["one"],
        "bounds": {"overlap_1": [0, 0.5], "sum": [None, 3]},
        "folds": {"column": "translation_cost", "of": 10},
        "grid": {"bounds": {"sum": [[0, 1], [1, 2]]}, "keep": [[1], [2, 3]], "sample": [5]},
    }
    found = training_sets(config(fine=entry))
    points = {
        name: (each["bounds"]["sum"], each["folds"]["keep"], each["sample"])
        for name, each in found.items()
    }
    assert points == {
        "fine-one-1-1-1": ([0, 1], [1], 5),
        "fine-one-1-2-1": ([0, 1], [2, 3], 5),
        "fine-one-2-1-1": ([1, 2], [1], 5),
        "fine-one-2-2-1": ([1, 2], [2, 3], 5),
    }
    assert {tuple(each["bounds"]["overlap_1"]) for each in found.values()} == {(0, 0.5)}
    assert columns_of(found["fine-one-1-1-1"]) == ["overlap_1", "sum", "translation_cost"]


def test_keys_that_change_nothing_are_no_part_of_a_set_so_that_its_folder_stays():
    folds = {"folds": {"column": "sum", "of": 2, "keep": [1]}}
    plain = training_sets(config(one={}, two=folds))
    default = {"first": "bounds", "ranks": None, "corpora": None}
    assert training_sets(config(one=default, two=folds)) == plain
    assert not default.keys() & plain["two-one"].keys()
    other = training_sets(config(two={**folds, "first": "folds"}, one={"ranks": [1, 5]}))
    assert (other["two-one"]["first"], other["one-two"]["ranks"]) == ("folds", [1, 5])


@pytest.mark.parametrize(
    ("key", "values"), [("corpora", [["a"], ["a", "b"]]), ("ranks", [1, 2, [1, 5]])]
)
def test_corpora_and_ranks_are_axes(key, values):
    found = training_sets(config(by={"systems": ["one"], "grid": {key: values}}))
    assert {name: each[key] for name, each in found.items()} == {
        f"by-one-{number}": value for number, value in enumerate(values, 1)
    }


def test_each_corpus_is_tuned_by_itself():
    """Wieting et al. (2017), 5.5: the bounds of a filter are those of a source of data."""
    grid = {"bounds": {"sum": [[0, 1], [1, 2]]}, "corpora": "each"}
    given = config(fine={"systems": ["one"], "grid": grid, "tune": True})
    given |= {"generate": {"corpora": ["a", "b"]}}
    assert [each["corpora"] for each in training_sets(given).values()] == [["a"], ["b"]] * 2
    assert tuned(given) == {
        "fine-one-a": ["fine-one-1-1", "fine-one-2-1"],
        "fine-one-b": ["fine-one-1-2", "fine-one-2-2"],
    }
