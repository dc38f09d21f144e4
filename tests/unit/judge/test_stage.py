"""The declaration of the stage, and the checks of judges."""

import copy
from types import SimpleNamespace

import pytest
import yaml

from tests import configs
from tests.configs import refusal, refusals, run_on_testbed
from workflow_scripts.plan.catalogues.judges import shipped
from workflow_scripts.stages.catalogue import run_layout
from workflow_scripts.stages.judge.stage import Judge
from workflow_scripts.stages.select.stage import Select

JUDGED = {
    "method": "judged",
    "judge": "mine",
    **{"clusters": 7, "best": 5, "keep": {"probability": 0.5}},
}


@pytest.fixture
def config(tmp_path):
    """A run on the testbed, whose references count as English, with a judge of its own."""
    config = run_on_testbed()
    config |= {"results": str(tmp_path / "results"), "data": str(tmp_path)}
    config["systems"]["mine"] = {**config["systems"]["parabank2"], "select": copy.deepcopy(JUDGED)}
    config["systems"]["mine"]["score"] = {"prune_above": None}
    config["run"]["systems"] = ["mine"]
    (tmp_path / "labels.tsv").write_text("reference\tparaphrase\tlabel\n", encoding="utf-8")
    config["judges"]["mine"] = {"labels": "labels.tsv", "features": ["overlap_1", "length_ratio"]}
    return config


def units(config):
    return [instance for stage, instance in run_layout(config).units() if stage == "judge"]


def keys(config):
    return configs.keys(run_layout(config))


def test_a_run_without_a_judge_has_no_unit(config):
    config["run"]["systems"] = ["parabank2"]
    assert units(config) == []
    assert run_layout(config).upstream(("select", "parabank2")) == [
        ("score", "parabank2"),
        ("train", "forward"),
    ]


@pytest.mark.parametrize(
    ("features", "instances", "read"),
    [
        (["overlap_1"], [], []),
        (["unknown_words"], [], [("generate", "words")]),
        (["grammar"], ["run-grammar"], [("judge", "run-grammar")]),
        (["forward_total"], [], [("train", "forward")]),
        (["forward_gain"], [], [("score", "references")]),
    ],
)
def test_units_follow_from_the_features(config, features, instances, read):
    config["judges"]["mine"] |= {"features": features, "grammar": "run"}
    assert units(config) == [*instances, "mine-fitted", "mine"]
    upstream = run_layout(config).upstream(("judge", "mine"))
    assert upstream[0] == ("score", "mine")
    assert set(upstream[1:]) == {("judge", "mine-fitted"), *read}


@pytest.mark.parametrize(
    ("features", "directions"),
    [
        (["overlap_1"], []),
        (["forward_nll"], ["forward"]),
        (["divergence"], ["backward"]),
        (["source_lost", "forward_gain"], ["forward", "backward"]),
    ],
)
def test_labels_are_scored_by_the_models_that_the_features_need(config, features, directions):
    config["judges"]["mine"]["features"] = features
    upstream = run_layout(config).upstream(("judge", "mine-fitted"))
    assert [unit for unit in upstream if unit[0] == "train"] == [("train", d) for d in directions]


def test_the_judge_that_ships_is_no_unit(config):
    config["systems"]["mine"]["select"]["judge"] = "default"
    assert "mine-fitted" not in units(config) and "mine" in units(config)


def test_labels_count_by_their_content(config, tmp_path):
    before = keys(config)
    (tmp_path / "other.tsv").write_bytes((tmp_path / "labels.tsv").read_bytes())
    config["judges"]["mine"]["labels"] = "other.tsv"
    assert keys(config) == before
    (tmp_path / "other.tsv").write_text("reference\tparaphrase\tlabel\nmore\n", encoding="utf-8")
    moved = {unit for unit, key in keys(config).items() if key != before[unit]}
    assert {("judge", "mine-fitted"), ("judge", "mine"), ("select", "mine")} <= moved
    assert ("score", "mine") not in moved


def test_only_a_bound_on_labels_reads_them_for_the_threshold(config):
    select = run_layout(config).stage(Select)
    assert select.bounding("mine") == {"judged": ("judge", "mine")}
    config["systems"]["mine"]["select"]["keep"] = {"precision": 0.75, "reference_quantile": 0.5}
    assert run_layout(config).stage(Select).bounding("mine") == {
        "references": ("score", "references"),
        "judged": ("judge", "mine"),
        "judge": ("judge", "mine-fitted"),
    }


def test_the_bound_on_the_sum_is_that_of_the_judge(config):
    assert run_layout(config).stage(Judge).settings("mine")["max_sum"] is None
    config["systems"]["mine"]["select"]["keep"]["max_sum"] = 4.0
    assert run_layout(config).stage(Judge).settings("mine")["max_sum"] == 4.0


@pytest.mark.parametrize("judge", ["default", "mine"])
def test_the_precision_of_the_encoder_counts_where_it_is_not_fp32(config, judge):
    config["systems"]["mine"]["select"]["judge"] = judge
    config["judges"]["mine"]["features"] = ["cosine"]
    before = keys(config)
    config["judges"][judge]["precision"] = "fp32"
    assert keys(config) == before
    config["judges"][judge]["precision"] = "int8"
    moved = {unit for unit, key in keys(config).items() if key != before[unit]}
    assert {("judge", "mine"), ("select", "mine")} <= moved and ("score", "mine") not in moved
    for instance in [unit for unit in units(config) if unit != "run-grammar"]:
        assert run_layout(config).stage(Judge).settings(instance)["encoder_precision"] == "int8"


def in_czech(config):
    config["languages"]["reference"] = {"code": "cs", "charset": None}


REFUSED = refusals("""
select.judge: yours => : 'yours' is not in judges
select.judge: null => select: method: judged needs a judge; name an entry of judges
select.keep: {max_sum: 3.0} => : method judged drops what
select.score: sum => : method judged ranks by the judge
select.keep: {probability: 0.5, precision: 0.5} => give one of probability, probability_quantile,
 precision a number (now probability
{select.method: nbest, select.keep: {max_sum: 3.0}} => select.judge: nothing asks the judge; write
 method: judged, score: judge or
select.best: 8 => select.best (8) needs at least as many clusters
select.keep: {probability: 0.5, max_sum: 3.0, quantile: 0.5} => give one of max_sum, quantile,
 reference_quantile a number (now max_sum and quantile)
{select.judge: default, select.keep: {precision: 0.5}} => default was not fitted to labels
judge.features: [overlap_11] => 'overlap_11' is no feature; did you mean 'overlap_1'
judge.features: [language_model] => a run has no model for 'language_model'
judge.ratings: ratings.csv => judges.mine: 'ratings' needs key 'reference_texts'
judge.precision: int8 => precision: it is that of the encoder, which no feature
judge.labels: null => features belong to a judge that the run fits
""")


@pytest.mark.parametrize(("change", "problem"), REFUSED)
def test_what_does_not_go_together_is_refused(config, change, problem):
    blocks = {"select": config["systems"]["mine"]["select"], "judge": config["judges"]["mine"]}
    for path, value in yaml.safe_load(change).items():
        block, key = path.split(".")
        blocks[block][key] = value
    if blocks["judge"]["labels"] is None:
        del blocks["judge"]["labels"]
    assert problem in refusal(config)


@pytest.mark.parametrize(
    ("judge", "problem"),
    [
        ({"features": ["negation"]}, "features: 'negation' knows English (en) only"),
        ({"features": ["grammar"]}, "write grammar: run, which trains one on them"),
        ({"features": ["cosine"]}, "the encoder that is installed knows English (en) only"),
    ],
)
def test_what_is_english_only_is_refused_elsewhere(config, judge, problem):
    config["judges"]["mine"] |= judge
    run_layout(config)
    in_czech(config)
    assert problem in refusal(config)


@pytest.mark.parametrize(("language", "name"), [("pt", "portuguese"), ("cs", "other")])
def test_default_is_the_judge_of_the_references_language(config, language, name):
    in_czech(config)
    config["languages"]["reference"]["code"] = language
    config["systems"]["mine"]["select"]["judge"] = "default"
    stage = Judge(run_layout(config))
    job = stage.shard_job(SimpleNamespace(system="mine", shard="0000"))
    assert job.options["judge"] == name
    assert stage.settings("mine")["features"] == shipped(name)["features"]
    config["judges"]["default"] = {"precision": "int8"}
    assert "judges.default.precision: it is that of the encoder" in refusal(config)


def test_configurations_without_the_catalogue_are_read(config):
    del config["judges"]
    config["run"]["systems"] = ["parabank2"]
    before = keys(config)
    config["judges"] = {"other": {"labels": "labels.tsv"}}
    assert keys(config) == before
