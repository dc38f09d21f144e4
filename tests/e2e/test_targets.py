"""Each stage has a target rule of its name, which builds up to it and no further."""

import pytest

from tests.e2e import micro
from tests.e2e.pipeline import Pipeline, stages_of

pytestmark = pytest.mark.e2e

FLOW = ["corpus", "clean", "subword", "train", "generate", "score", "select", "filter", "embed"]
FLOW += ["evaluate", "rewrite", "release"]
# Some stages with the number of units up to them: four corpora, one bitext, ...; two models, of
# which the backward one is not needed before scores are.
UNITS = {"generate": 9, "embed": 25 if micro.HAS_KENLM else 23, "evaluate": 17}
UNITS |= {"rewrite": UNITS["embed"], "release": UNITS["embed"] + 9}
# What a stage does not read of those before it; the report shows all.
APART = {"evaluate": {"embed"}, "rewrite": {"evaluate"}}


@pytest.fixture
def pipeline(bitext, tmp_path):
    return Pipeline(tmp_path / "work", micro.config(bitext))


@pytest.mark.rest
@pytest.mark.parametrize("stage", UNITS)
def test_target_builds_just_up_to_its_stage(pipeline, stage):
    planned = pipeline.planned(stage)
    unread = APART.get(stage, set())
    assert stages_of(planned) == set(FLOW[: FLOW.index(stage) + 1]) - unread
    assert planned[stage] == 1
    assert planned["manifest"] == UNITS[stage]
    assert not (pipeline.folder / "results" / stage).exists()


@pytest.mark.rest
def test_target_of_the_filter_needs_its_models_alone(bitext, tmp_path):
    changes = {"dual_filter": {"enabled": True}, "run": {"corpora": ["train", "web", "held_out"]}}
    config = micro.merged(micro.config(bitext), changes)
    planned = Pipeline(tmp_path / "work", config).planned("dual_filter")
    assert stages_of(planned) == {"corpus", "clean", "subword", "train", "dual_filter"}
    assert planned["train_model"] == 2
    assert planned["subword_train"] == 2
    assert planned["dual_filter_scores"] == planned["dual_filter_kept"] == 2


@pytest.mark.rest
def test_target_of_a_filter_that_is_off_builds_nothing(pipeline):
    assert set(pipeline.planned("dual_filter")) <= {"dual_filter"}


def test_default_target_is_everything(pipeline):
    planned = pipeline.planned()
    assert stages_of(planned) == set(FLOW)
    assert planned["all"] == 1


@pytest.mark.parametrize("name", ["manifest.json", "0000.parquet"])
def test_a_file_of_another_configuration_is_refused(pipeline, name):
    wanted = f"results/select/micro/v3-0123456789ab/{name}"
    assert "v3-0123456789ab is not of this configuration" in pipeline.fail("--dry-run", wanted)
