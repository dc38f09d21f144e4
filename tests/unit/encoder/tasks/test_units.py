"""Planning of the tasks: which units and jobs there are, what they follow from, what is refused."""

import copy

import pytest

from tests.configs import keys, refusal, run_on_testbed
from tests.unit.encoder.tasks.samples import sick, stsb_dev
from tests.unit.transfer.conftest import write_senteval
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.catalogues.encoder_blocks import DEFAULT
from workflow_scripts.plan.selection import used
from workflow_scripts.stages.catalogue import run_layout
from workflow_scripts.stages.encoder.stage import Encoder
from workflow_scripts.stages.release.stage import Release

ENCODER = {
    "training_set": "all",
    "embedding": {"name": "word", "training_set": "all"},
    "scratch": {},
}
UNIT = ("encoder", "pbert-tasks")
COMPARISON = ("encoder", "pbert-comparison")


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sick(tmp_path / "data" / "SICK")
    stsb_dev(tmp_path / "data" / "sts")
    found = run_on_testbed()
    found["data"] = str(tmp_path / "data")
    found["run"]["encoders"], found["encoders"] = ["pbert"], {"pbert": ENCODER}
    return found


def with_tasks(config, **block):
    other = copy.deepcopy(config)
    other["encoder_tasks"] = {"data": {"SICK-E": "SICK", "STS-B": "sts"}} | block
    return other


def test_only_units_of_the_encoder_change(config):
    """What the tasks report on is left out of the pairs, and of the references."""
    before, after = keys(run_layout(config)), keys(run_layout(with_tasks(config)))
    assert UNIT not in before
    changed = {unit for unit in after if before.get(unit) != after[unit]}
    names = ("pbert-pairs", "pbert-scratch", "pbert", "pbert-tasks", "pbert-comparison")
    assert changed == {("encoder", name) for name in names}
    assert before.keys() == after.keys() - {UNIT, COMPARISON}


def test_the_page_has_a_place_for_them_beside_lexicons_and_transfer_tasks(config, tmp_path):
    write_senteval(tmp_path / "data" / "senteval")
    config["run"]["lexicons"] = ["phrases"]
    config["lexicons"] = {"phrases": {"training_sets": ["all"]}}
    config["transfer"] = {"data": ["senteval"]}
    release = run_layout(with_tasks(config)).stage(Release)
    found = [each.partition(":")[2] for each in release.page_sections()]
    own = ["transfer_tasks", "encoders", "encoder_tasks", "lexicons", "measures_of_lexicons"]
    assert [each for each in found if each in own] == own


def test_an_encoder_that_is_not_tested_learns_from_all(config):
    """It is behind a column alone."""
    config["encoders"]["other"] = ENCODER
    config["columns"]["identified"] = {"encoder": {"name": "other"}}
    config["training_sets"]["likely"] = {"bounds": {"identified": [0.5, None]}}
    config["run"]["training_sets"] = ["likely"]
    layout = run_layout(with_tasks(config))
    stage = layout.stage(Encoder)
    assert stage.left_out_files("other-pairs") == stage.left_out_files("other-scratch") == []
    assert "tasks" not in layout.settings(("encoder", "other-pairs"))
    assert layout.key("encoder", "other-pairs") == run_layout(config).key("encoder", "other-pairs")


def test_without_encoders_the_block_counts_for_nothing(config):
    config["run"]["encoders"] = []
    before, after = run_layout(config), run_layout(with_tasks(config))
    assert before.key("release") == after.key("release")
    assert "encoder_tasks" not in used(with_tasks(config))
    assert UNIT not in after.units()


def test_each_task_state_and_seed_is_a_job_of_its_own(config):
    layout = run_layout(with_tasks(config, seeds=[4, 5]))
    names = [
        f"{task}-{state}-{seed}"
        for state in ("plain", "tuned")
        for task in ("STS-B", "SICK-E")
        for seed in (4, 5)
    ]
    assert layout.other_records(*UNIT) == names
    stage = layout.stage(Encoder)
    assert stage.jobs("pbert-tasks") == 8
    assert set(stage.files("pbert-tasks")) == {f"{name}.jsonl" for name in names}
    assert stage.files("pbert-comparison") == ["tasks.json"]
    assert layout.upstream(COMPARISON) == [UNIT]
    assert stage.answers("tuned") == names[4:]
    assert not stage.trains("pbert-tasks")
    assert layout.upstream(UNIT) == [("encoder", "pbert"), ("encoder", "pbert-scratch")]


def test_the_users_files_count_by_their_content(config, tmp_path):
    layout = run_layout(with_tasks(config))
    before = layout.key(*UNIT)
    stage = layout.stage(Encoder)
    assert stage.task_files()["STS-B"] == [str(tmp_path / "data" / "sts" / "sts-dev.csv")]
    assert len(stage.inputs("pbert-tasks")) == 4
    (tmp_path / "data" / "sts" / "readme.txt").write_text("x")
    assert run_layout(with_tasks(config)).key(*UNIT) == before
    stsb_dev(tmp_path / "data" / "sts", 13)
    assert run_layout(with_tasks(config)).key(*UNIT) != before


@pytest.mark.parametrize("part", ["-pairs", "-scratch"])
def test_what_is_left_out_counts_by_its_content(config, tmp_path, part):
    unit = ("encoder", f"pbert{part}")
    layout = run_layout(with_tasks(config))
    stage = layout.stage(Encoder)
    assert len(stage.left_out_files(unit[1])) == 4
    assert set(stage.inputs(unit[1])) == set(stage.left_out_files(unit[1]))
    folders = {"STS-B": str(tmp_path / "data" / "sts"), "SICK-E": str(tmp_path / "data" / "SICK")}
    assert layout.settings(unit)["tasks"] == folders
    before = layout.key(*unit)
    stsb_dev(tmp_path / "data" / "sts", 13)
    assert run_layout(with_tasks(config)).key(*unit) != before


def test_settings_of_the_tasks_are_those_of_their_unit_alone(config):
    before = keys(run_layout(with_tasks(config)))
    after = keys(run_layout(with_tasks(config, learning_rates=[2e-5, 5e-5])))
    assert [unit for unit in before if before[unit] != after[unit]] == [UNIT, COMPARISON]


def test_another_number_of_resamples_tunes_nothing_anew(config):
    other = with_tasks(config)
    other["evaluate"]["bootstrap"] += 1
    before, after = keys(run_layout(with_tasks(config))), keys(run_layout(other))
    changed = [unit for unit in before if before[unit] != after[unit] and unit[0] == "encoder"]
    assert changed == [COMPARISON]


def test_a_base_is_read_by_the_tasks_too(config, tmp_path):
    folder = tmp_path / "data" / "bert"
    folder.mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (folder / name).write_text("{}", encoding="utf-8")
    other = with_tasks(config)
    block = {key: value for key, value in ENCODER.items() if key != "scratch"}
    other["encoders"]["pbert"] = block | {"base": {"folder": "bert"}}
    layout = run_layout(other)
    assert str(folder / "model.safetensors") in layout.stage(Encoder).inputs("pbert-tasks")
    assert layout.settings(UNIT)["base"] == {"folder": str(folder)}
    before = layout.key(*UNIT)
    (folder / "model.safetensors").write_text("{ }", encoding="utf-8")
    assert run_layout(other).key(*UNIT) != before
    other["encoders"]["pbert"]["base"] = None
    assert run_layout(other).settings(UNIT)["base"] == DEFAULT


def test_a_folder_without_the_files_is_refused_with_its_key(config):
    other = with_tasks(config, data={"MRPC": "SICK"})
    with pytest.raises(
        InputError, match=r"encoder_tasks.data.MRPC: .*SICK does not hold .* train.tsv and dev.tsv"
    ):
        run_layout(other).key(*UNIT)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"data": {"MRPB": "x"}}, "encoder_tasks.data"),
        ({"data": {}}, "encoder_tasks.data"),
        ({"seeds": []}, "encoder_tasks.seeds"),
        ({"stride": 300, "span_length": 200}, "encoder_tasks.stride: 300 tokens are more than"),
    ],
)
def test_what_cannot_be_is_refused_with_its_key(config, block, expected):
    assert expected in refusal(with_tasks(config, **block))
