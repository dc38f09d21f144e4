"""A run with the dual filter on, and finished models of one's own in place of trained ones."""

import json
import shutil

import pyarrow.parquet as pq
import pytest

from tests.e2e import micro
from tests.e2e.pipeline import Pipeline, sha256, stages_of
from tests.golden.models import fixed_model

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

NOISE = {f"web:{line}" for line in range(1, micro.SIZES["web"] + 1, 3)}
MAX_SUM = 5.0  # far from both: clean pairs are below 4, noise is above 6


def write_models(folder):
    fixed_model(folder / "forward", "source", "reference", 1)
    fixed_model(folder / "backward", "reference", "source", 2)


@pytest.fixture(scope="module")
def own_models(once):
    """Model folders of the user's own, with their sub-word models inside."""
    return once("own_models", write_models)


def own_model(folder):
    """Return the block of `models` for a model folder."""
    sides = {f"{side}_model": f"{folder}/{side}.model" for side in ("source", "reference")}
    return {"folder": str(folder), **sides}


@pytest.fixture(scope="module")
def filtered(bitext, own_models, once):
    changes = {
        "run": {"corpora": ["train", "web", "held_out"]},
        "dual_filter": {"enabled": True, "max_sum": MAX_SUM},
        "models": {f"own_{role}": own_model(own_models / role) for role in ("forward", "backward")},
        "train": {
            "corpora": ["train", "web"],
            "models": {"forward": "own_forward", "backward": "own_backward"},
        },
        "generate": {"limit": {"web": 4}},
    }
    config = micro.merged(micro.config(bitext), changes)
    return Pipeline(once("filtered", lambda folder: Pipeline(folder, config).run()), config)


def rows(folder):
    return [
        row
        for path in sorted(folder.glob("[0-9]*.parquet"))
        for row in pq.read_table(path).to_pylist()
    ]


def test_noise_is_filtered_and_clean_pairs_stay(filtered):
    kept = {row["id"] for row in rows(filtered.unit("dual_filter.kept")) if row["corpus"] == "web"}
    clean = {f"web:{line}" for line in range(1, micro.SIZES["web"] + 1)} - NOISE
    assert kept == clean


def test_trusted_and_measured_corpora_are_never_filtered(filtered):
    kept = rows(filtered.unit("dual_filter.kept"))
    clean = rows(filtered.unit("clean"))
    for corpus in ("train", "dev", "test"):
        assert [row for row in kept if row["corpus"] == corpus] == [
            row for row in clean if row["corpus"] == corpus
        ]


def test_every_other_pair_has_its_scores_and_they_decide(filtered):
    scores = {row["id"]: row for row in rows(filtered.unit("dual_filter.scores"))}
    others = {
        row["id"] for row in rows(filtered.unit("clean")) if row["corpus"] in ("web", "held_out")
    }
    assert scores.keys() == others
    kept = {row["id"] for row in rows(filtered.unit("dual_filter.kept"))}
    for identity, row in scores.items():
        assert (row["forward_nll"] + row["backward_nll"] <= MAX_SUM) == (identity in kept)


def test_filtering_adds_up(filtered):
    scores, kept = (filtered.manifest(f"dual_filter.{each}") for each in ("scores", "kept"))
    clean = filtered.manifest("clean")
    assert scores["rows_in"] == kept["rows_in"] == clean["rows_out"]
    assert kept["rejected"] == {"sum": kept["rows_in"] - kept["rows_out"]}
    for following in ("subword.main", "generate.references"):
        assert filtered.manifest(following)["rows_in"] == kept["rows_out"]


def test_filter_models_are_trained_on_trusted_pairs_alone(filtered):
    copies = filtered.config["subword"]["samples"]
    for role in ("filter_forward", "filter_backward"):
        assert filtered.manifest(f"train.{role}")["rows_in"] == copies * micro.SIZES["train"]


def test_another_threshold_needs_no_scoring(filtered, copy_of):
    other = micro.merged(filtered.config, {"dual_filter": {"max_sum": 4.5}})
    planned = copy_of(filtered).with_config(other).planned("dual_filter")
    assert stages_of(planned) == {"dual_filter"}
    assert planned["dual_filter_kept"] == 2
    assert "dual_filter_scores" not in planned


@pytest.mark.parametrize("role", ["forward", "backward"])
def test_own_model_is_taken_over_as_it_is_and_measured(filtered, own_models, role):
    unit = filtered.unit(f"train.{role}")
    for name in ("params.best", "vocab.src.0.json", "source.model", "reference.model"):
        assert sha256(unit / name) == sha256(own_models / role / name)
    metrics = json.loads((unit / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["validation_perplexity"] > 1
    assert metrics["bleu"]["sentences"] == micro.SIZES["test"]
    assert "updates" not in metrics
    assert filtered.manifest(f"train.{role}")["rows_in"] == 0


def test_own_models_paraphrase(filtered):
    assert filtered.manifest("release")["rows_out"] == 8 + 8 + 4
    found = rows(filtered.unit("select.micro"))
    assert sum(len(row["paraphrases"]) for row in found) > len(found) / 2
    assert "Nothing to be done" in filtered.run("--dry-run")


def test_another_content_of_the_own_model_is_another_run(filtered, own_models, copy_of, tmp_path):
    folder = shutil.copytree(own_models / "forward", tmp_path / "forward")
    with (folder / "params.best").open("ab") as stream:
        stream.write(b" ")
    other = micro.merged(filtered.config, {"models": {"own_forward": own_model(folder)}})
    planned = copy_of(filtered).with_config(other).planned("generate")
    assert planned["train_model"] == planned["generate_shard"] == 1
    assert "dual_filter_scores" not in planned
