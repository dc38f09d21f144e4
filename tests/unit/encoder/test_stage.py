"""Planning with encoders: which units there are, what they read, what is refused beforehand."""

import copy

import pytest

from tests.commands import require_right_waits
from tests.configs import changes, keys, refusal, refusals, run_on_testbed
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.selection import used
from workflow_scripts.stages.catalogue import run_layout
from workflow_scripts.stages.embed.stage import Embed
from workflow_scripts.stages.encoder.stage import Encoder
from workflow_scripts.stages.filter.stage import Filter

EMBEDDING = {"name": "word", "training_set": "all"}
BLOCK = {"training_set": "all", "embedding": EMBEDDING, "scratch": {}}


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return run_on_testbed()


def with_encoder(config, named=True, without=(), **changes):
    other = copy.deepcopy(config)
    other["run"]["encoders"] = ["pbert"] if named else []
    block = BLOCK | changes
    other["encoders"] = {"pbert": {key: each for key, each in block.items() if key not in without}}
    return other


def with_column(config, **bounds):
    """Return a run in which the encoder's probability chooses a training set."""
    other = with_encoder(config, named=False)
    other["columns"]["identified"] = {"encoder": {"name": "pbert"}}
    other["training_sets"]["likely"] = {"bounds": {"identified": [0.5, None]}}
    other["run"]["training_sets"] = ["likely"]
    return other


def test_without_encoders_there_is_nothing_of_the_stage(config):
    layout = run_layout(config)
    assert not [unit for unit in layout.units() if unit[0] == "encoder"]
    config["encoders"] = {"pbert": BLOCK}
    assert run_layout(config).key("release") == layout.key("release")
    assert used(config)["encoders"] == {}


def test_a_released_corpus_says_nothing_of_encoders(config):
    told = [
        run_layout(each).declaration("release").system_settings("parabank2")
        for each in (config, with_encoder(config))
    ]
    assert told[0] == told[1]


def test_units_in_their_order_and_no_other_unit_changes(config):
    before, layout = keys(run_layout(config)), run_layout(with_encoder(config))
    found = keys(layout)
    assert [unit for unit in found if unit[0] == "encoder"] == [
        ("encoder", "pbert-pairs"),
        ("encoder", "pbert-scratch"),
        ("encoder", "pbert"),
    ]
    assert before.items() <= found.items()
    assert layout.upstream(("encoder", "pbert-pairs")) == [
        ("filter", "all-parabank2"),
        ("embed", "word-all-parabank2-seed1"),
        ("embed", "evaluation"),
    ]
    assert layout.upstream(("encoder", "pbert")) == [
        ("encoder", "pbert-pairs"),
        ("encoder", "pbert-scratch"),
    ]
    trains = layout.stage(Encoder).trains
    assert [trains(f"pbert{part}") for part in ("-pairs", "-scratch", "")] == [False, True, True]


def test_what_an_encoder_needs_is_made_though_the_run_does_not_name_it(config):
    config["run"]["training_sets"], config["run"]["embeddings"] = [], []
    layout = run_layout(with_encoder(config))
    assert "all-parabank2" in layout.stage(Filter).training_sets
    assert layout.stage(Embed).instances() == ["evaluation", "word-all-parabank2-seed1"]


def test_settings_are_those_of_their_units_alone(config):
    """Another learning rate must not mine the pairs again, nor train from scratch again."""
    before = keys(run_layout(with_encoder(config)))
    after = keys(run_layout(with_encoder(config, training={"learning_rate": 5e-5})))
    changed = [unit for unit in before if before[unit] != after[unit]]
    assert changed == [("encoder", "pbert")]
    after = keys(run_layout(with_encoder(config, scratch={"layers": 2})))
    changed = [unit for unit in before if before[unit] != after[unit]]
    assert changed == [("encoder", "pbert-scratch"), ("encoder", "pbert")]


def test_an_encoder_of_the_users_counts_by_its_files(config, tmp_path):
    folder = tmp_path / "data" / "bert"
    folder.mkdir(parents=True)
    config["data"] = str(tmp_path / "data")
    for name in ("config.json", "model.safetensors", "tokenizer.json", "pytorch_model.bin"):
        (folder / name).write_text("{}", encoding="utf-8")
    other = with_encoder(config, without=["scratch"], base={"folder": "bert"})
    layout = run_layout(other)
    stage = layout.stage(Encoder)
    assert set(stage.base_files("pbert")) == {"config.json", "model.safetensors", "tokenizer.json"}
    assert stage.base_files("pbert-pairs") == {}
    require_right_waits(layout)
    (folder / "model.safetensors").write_text("{ }", encoding="utf-8")
    again = run_layout(other)
    assert again.key("encoder", "pbert") != layout.key("encoder", "pbert")
    assert again.key("encoder", "pbert-pairs") == layout.key("encoder", "pbert-pairs")
    (folder / "model.safetensors").unlink()
    with pytest.raises(
        InputError, match=r"is no model of transformers: it has no weights \(.safet"
    ):
        run_layout(other)


def test_an_encoder_on_the_hub_needs_a_commit(config):
    base = {"hub": "google-bert/bert-base-uncased"}
    assert "encoders.pbert.base: key 'revision' is missing" in refusal(
        with_encoder(config, without=["scratch"], base=base)
    )
    pinned = base | {"revision": "0" * 40}
    layout = run_layout(with_encoder(config, without=["scratch"], base=pinned))
    (kept,) = layout.stage(Encoder).outside("pbert")
    assert kept.endswith(f"hub/google-bert--bert-base-uncased/{'0' * 40}")
    assert layout.stage(Encoder).hub_block(f"{kept}.json") == pinned


def test_a_block_without_base_and_scratch_is_refused(config):
    expected = "encoders.pbert: one of base and scratch says what is tuned"
    assert expected in refusal(with_encoder(config, without=["scratch"]))


REFUSED = refusals("""
encoders.pbert.training_set: al => : 'al' is not in training_sets
encoders.pbert.embedding.name: words => : 'words' is not in embeddings
encoders.pbert.base: null => encoders.pbert: one of base and scratch says what is tuned
encoders.pbert.scratch.heads: 3 => : 3 does not divide hidden, which is 256
encoders.pbert.negatives.ranks: [3, 2] => : 3 is greater than 2
encoders.pbert.negatives.similarity: [0.9, 0.5] => : 0.9 is greater than 0.5
encoders.pbert.system: other => training_sets.all has no pairs of 'other', but of parabank2
run.encoders: [pbart] => : 'pbart' is not in encoders
columns.identified.encoder.name: pbart => : 'pbart' is not in encoders
training_sets.all.grid: {sample: [10, 20]} => encoders.pbert.training_set: training_sets.all has a
 grid
""")


@pytest.mark.parametrize(("change", "expected"), REFUSED)
def test_what_cannot_be_is_refused_with_its_key(config, change, expected):
    other = with_column(config)
    other["run"]["encoders"] = ["pbert"]
    assert expected in refusal(other, changes(change))


def test_of_several_systems_one_must_be_named(config):
    other = with_encoder(config)
    other["systems"]["second"] = other["systems"]["parabank2"]
    other["run"]["systems"] = ["parabank2", "second"]
    assert (
        "encoders.pbert.system: key 'system' is missing; training_sets.all is of parabank2, second"
        in refusal(other)
    )
    other["encoders"]["pbert"]["system"] = "second"
    layout = run_layout(other)
    assert layout.upstream(("encoder", "pbert-pairs"))[0] == ("filter", "all-second")


def test_a_training_set_is_chosen_by_the_probability(config):
    """The encoder is trained before, on pairs that are not yet chosen by it."""
    layout = run_layout(with_column(config))
    assert ("encoder", "pbert") in layout.upstream(("filter", "identified-parabank2"))
    assert layout.upstream(("filter", "likely-parabank2")) == [
        ("filter", "parabank2"),
        ("filter", "identified-parabank2"),
    ]
    units = layout.units()
    assert units.index(("encoder", "pbert")) < units.index(("filter", "likely-parabank2"))


def test_a_circle_through_the_encoders_training_set_is_refused(config):
    other = with_column(config)
    other["encoders"]["pbert"]["training_set"] = "likely"
    found = refusal(other)
    assert (
        "encoders.pbert.training_set: a circle: columns.identified asks encoders.pbert, which is "
        "trained on training_sets.likely, which is chosen by columns.identified; name a training "
        "set that it does not choose"
    ) in found
    assert found.count("circle") == 1


def test_a_circle_through_the_embedding_is_refused(config):
    """The column chooses what the embedding learns from that finds the encoder's negatives."""
    other = with_column(config)
    other["columns"]["near"] = {"embedding": {"name": "word", "training_set": "likely"}}
    other["training_sets"]["close"] = {"bounds": {"near": [0.5, None]}}
    other["encoders"]["pbert"]["embedding"] = {"name": "word", "training_set": "close"}
    found = refusal(other)
    for key in ("columns.identified", "encoders.pbert", "training_sets.close", "columns.near"):
        assert key in found
    assert "whose embedding is trained on training_sets.close" in found
    assert found.count("circle") == 1
