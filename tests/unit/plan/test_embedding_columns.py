"""Columns that an embedding computes: any catalogue of them is a flow, or its circle is named."""

import copy
from graphlib import CycleError, TopologicalSorter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.configs import refusal, run_on_testbed
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.catalogues.training_sets import entry_columns, model_columns
from workflow_scripts.stages.catalogue import run_layout, validate
from workflow_scripts.stages.evaluate.stage import Evaluate
from workflow_scripts.stages.filter.embedding_columns import problems

CONFIG = run_on_testbed()


def config(columns=None, training_sets=None, evaluate=(), run=("all",), systems=("parabank2",)):
    """Return the run on the testbed with columns by the training set behind each, and sets."""
    changed = copy.deepcopy(CONFIG)
    for name, behind in (columns or {}).items():
        changed["columns"][name] = {"embedding": {"name": "trigram", "training_set": behind}}
    changed["training_sets"] |= training_sets or {}
    changed["evaluate"]["columns"] = list(evaluate)
    changed["run"] |= {"training_sets": list(run), "systems": list(systems)}
    return changed


def bounds(*columns):
    return {"bounds": {column: [0, 1] for column in columns}}


def layout_of(changed, tmp_path):
    return run_layout({**changed, "results": str(tmp_path / "results")})


def test_what_a_column_is_read_off_becomes_part_of_the_run_and_is_not_tested(tmp_path):
    changed = config({"score": "all"}, {"close": bounds("score")}, run=["close"])
    layout = layout_of(changed, tmp_path)
    score, close = ("filter", "score-parabank2"), ("filter", "close-parabank2")
    behind, everything = ("embed", "trigram-all-parabank2-seed1"), ("filter", "all-parabank2")
    tested = ("embed", "word-close-parabank2-seed1")
    assert layout.upstream(score) == [("filter", "parabank2"), behind]
    assert layout.upstream(behind) == [everything, ("embed", "evaluation")]
    assert layout.upstream(close) == [("filter", "parabank2"), score]
    assert layout.upstream(("embed", "sts")) == [("embed", "evaluation"), tested]
    assert set(layout.units()) >= {score, close, behind, everything, tested}
    assert (layout.shards(*score), layout.other_records(*score)) == (2, [])
    assert layout.settings(score) == {}
    assert layout.records(*behind) == ["model"]


def test_without_embeddings_of_its_own_the_run_tests_nothing(tmp_path):
    changed = config({"score": "all"}, evaluate=["score"], run=[])
    changed["run"]["embeddings"] = []
    layout = layout_of(changed, tmp_path)
    embed = [name for stage, name in layout.units() if stage == "embed"]
    assert sorted(embed) == ["evaluation", "trigram-all-parabank2-seed1"]
    assert ("filter", "score-parabank2") in layout.upstream(("evaluate", "parabank2"))
    assert layout.stage(Evaluate).statistics_settings()["columns"] == {"score": "embedding"}


def test_an_embedding_that_the_run_names_too_is_trained_once(tmp_path):
    changed = config({"score": "all"}, evaluate=["score"])
    changed["run"]["embeddings"] = ["trigram"]
    changed["embeddings"]["trigram"]["seeds"] = [7, 3]
    layout = layout_of(changed, tmp_path)
    read = layout.upstream(("filter", "score-parabank2"))
    assert read[1] == ("embed", "trigram-all-parabank2-seed7")
    assert [name for stage, name in layout.units() if stage == "embed"] == [
        *("evaluation", "trigram-all-parabank2-seed7", "trigram-all-parabank2-seed3", "sts")
    ]


def test_each_system_has_an_embedding_of_its_own_pairs(tmp_path):
    closer = {**bounds("score"), "systems": ["parabank2"]}
    changed = config(
        {"score": "all", "other": "all"},
        {"close": closer},
        **{"evaluate": ["other"], "run": ["close"], "systems": ["paranmt", "parabank2"]},
    )
    assert model_columns(changed) == {"score": ["parabank2"], "other": ["paranmt", "parabank2"]}
    layout = layout_of(changed, tmp_path)
    for system in ("paranmt", "parabank2"):
        read = layout.upstream(("filter", f"other-{system}"))
        assert read[1] == ("embed", f"trigram-all-{system}-seed1")
    assert ("filter", "score-paranmt") not in layout.units()


def test_another_training_of_the_embedding_is_another_column(tmp_path):
    changed = config({"score": "all"}, {"close": bounds("score")}, run=["close"])
    before = layout_of(changed, tmp_path)
    changed["embeddings"]["trigram"]["training"] = {"epochs": 3}
    after = layout_of(changed, tmp_path)
    moved = {unit for unit in before.units() if before.key(*unit) != after.key(*unit)}
    assert moved == {
        *(("embed", name) for name in ("trigram-all-parabank2-seed1", "sts")),
        *(("filter", name) for name in ("score-parabank2", "close-parabank2")),
        ("embed", "word-close-parabank2-seed1"),
        ("release", None),  # it shows what the tested embeddings reached
    }


@pytest.mark.parametrize(
    ("columns", "training_sets", "expected"),
    [
        (
            {"score": "close"},
            {"close": bounds("score", "sum")},
            "columns.score.embedding.training_set: a circle: columns.score is trained on "
            "training_sets.close, which is chosen by columns.score; name a training set",
        ),
        (
            {"score": "close", "other": "fold"},
            {
                "close": {"grid": {"bounds": {"other": [[0, 1]]}}},
                "fold": {"folds": {"column": "score", "of": 2, "keep": [1]}},
            },
            "columns.score is trained on training_sets.close, which is chosen by columns.other; "
            "columns.other is trained on training_sets.fold, which is chosen by columns.score;",
        ),
    ],
)
def test_a_circle_is_named_with_all_its_keys_and_once(columns, training_sets, expected):
    changed = config(columns, training_sets)
    with pytest.raises(InputError) as error:
        validate(changed)
    assert expected in str(error.value)
    assert str(error.value).count("a circle") == 1


@pytest.mark.parametrize(
    ("behind", "block", "expected"),
    [
        ("al", {}, "columns.score.embedding.training_set: 'al' is not in training_sets; did you"),
        ("own", {"grid": {"sample": [1, 2]}}, "training_sets.own has a grid, which makes it"),
        ("own", {"systems": ["paranmt"]}, "training_sets.own.systems lacks 'parabank2', whose"),
        ("own", bounds("overlp_1"), "training_sets.own: 'overlp_1' is no column of pairs"),
    ],
)
def test_a_training_set_that_cannot_be_behind_a_column_is_refused(behind, block, expected):
    systems = ["paranmt", "parabank2"]
    changed = config({"score": behind}, {"own": block}, evaluate=["score"], systems=systems)
    assert expected in refusal(changed)


def test_an_embedding_behind_a_column_is_checked_like_one_of_the_run():
    changed = config({"score": "all"}, evaluate=["score"])
    changed["embeddings"]["trigram"]["training_sets"] = ["elsewhere"]  # of runs that name it
    validate(changed)
    changed["embeddings"]["trigram"]["model"] = {"encoders": ["blstm"], "hidden": 5}
    with pytest.raises(InputError, match=r"embeddings\.trigram\.model\.hidden: blstm needs"):
        validate(changed)
    changed["columns"]["score"]["embedding"]["name"] = "trigrm"
    with pytest.raises(InputError, match=r"columns\.score\.embedding\.name: 'trigrm' is not in"):
        validate(changed)


NAMES = st.sampled_from(["a", "b", "c", "d"])
CATALOGUES = st.tuples(
    st.dictionaries(NAMES, NAMES.map(lambda name: f"by_{name}"), min_size=1),
    st.fixed_dictionaries({f"by_{name}": st.lists(NAMES, max_size=2) for name in "abcd"}),
    st.lists(NAMES, unique=True, max_size=2),
)


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(CATALOGUES)
def test_any_catalogue_is_a_flow_or_a_circle_that_is_named(tmp_path_factory, catalogues):
    columns, choices, evaluate = catalogues
    # What is no column here is one that needs no model.
    chosen = {
        name: bounds(*(each if each in columns else "sum" for each in by))
        for name, by in choices.items()
    }
    evaluate = [name for name in evaluate if name in columns]
    changed = config(columns, chosen, evaluate, run=["all", "by_a"])
    graph = {name: entry_columns(chosen[behind]) for name, behind in columns.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        assert list(problems(changed))
        with pytest.raises(InputError, match=r"columns\.\w\.embedding\.training_set: a circle"):
            validate(changed)
        return
    layout = layout_of(changed, tmp_path_factory.getbasetemp())
    units = layout.units()
    assert len(units) == len(set(units))
    for unit in units:
        assert {*layout.upstream(unit)} <= {*units[: units.index(unit)]}
