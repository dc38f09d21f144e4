"""Planning: which units there are, what they read, what is refused beforehand."""

import copy

import pytest
import yaml

from tests.configs import ROOT, refusals, run_on_testbed
from tests.unit.transfer.conftest import write, write_senteval
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.catalogues.embeddings import embeddings
from workflow_scripts.plan.catalogues.training_sets import training_sets
from workflow_scripts.plan.resolve import resolve
from workflow_scripts.stages.catalogue import run_layout, validate
from workflow_scripts.stages.transfer.checks import notes, transfer
from workflow_scripts.stages.transfer.stage import Transfer


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_senteval(tmp_path / "senteval")
    return {**run_on_testbed(), "data": str(tmp_path)}


def with_transfer(config, **changes):
    return {**copy.deepcopy(config), "transfer": {"data": ["senteval"], **changes}}


def units(config):
    layout = run_layout(config)
    return {unit: layout.key(*unit) for unit in layout.units()}


def test_without_data_there_is_nothing_of_the_stage_and_no_key_changes(config):
    plain = units(config)
    assert not [unit for unit in plain if unit[0] == "transfer"]
    assert units({**config, "transfer": {}}) == plain
    assert units({**config, "transfer": {"sentence_transformers": {"mini": None}}}) == plain


def test_units_of_embeddings_encoders_vectors_and_bags(config, tmp_path):
    write(tmp_path / "glove.txt", "a 1 2\n")
    found = with_transfer(
        config, vectors={"glove": "glove.txt"}, sentence_transformers={"mini": None}
    )
    layout = run_layout(found)
    stage = layout.stage(Transfer)
    embeddings = list(stage.embeddings)
    assert embeddings
    assert stage.instances() == ["tasks", *embeddings, "mini", "glove", "bag_of_words"]
    (first, *_) = embeddings
    training_set = stage.embeddings[first]["training_set"]
    assert layout.upstream(("transfer", first)) == [
        ("transfer", "tasks"),
        ("embed", first),
        ("filter", training_set),
    ]
    assert layout.upstream(("transfer", "glove")) == [("transfer", "tasks")]
    plain = {unit: key for unit, key in units(config).items() if unit[0] != "release"}
    assert plain.items() <= units(found).items()
    release = layout.upstream(("release", None))
    assert {("transfer", each) for each in stage.instances()} <= set(release)


def test_embeddings_and_bags_may_be_left_out(config):
    found = with_transfer(
        config, embeddings=[], bag_of_words=False, sentence_transformers={"mini": None}
    )
    assert run_layout(found).stage(Transfer).instances() == ["tasks", "mini"]
    nothing = with_transfer(config, embeddings=[], bag_of_words=False)
    assert run_layout(nothing).stage(Transfer).instances() == []


def test_files_count_by_their_content(config, tmp_path):
    write(tmp_path / "glove.txt", "a 1 2\n")
    found = with_transfer(config, vectors={"glove": "glove.txt"})
    before = units(found)
    write(tmp_path / "glove.txt", "a 1 3\n")
    after = units(found)
    assert before[("transfer", "glove")] != after[("transfer", "glove")]
    assert before[("transfer", "tasks")] == after[("transfer", "tasks")]
    path = tmp_path / "senteval/CR/custrev.pos"
    write(path, path.read_text("utf-8") + "one more\n")
    assert units(found)[("transfer", "tasks")] != after[("transfer", "tasks")]
    # What no task reads does not count.
    last = units(found)
    write(tmp_path / "senteval/SOURCE", "from here\n")
    assert units(found) == last


@pytest.mark.parametrize(
    "change", [{"scaled": True}, {"classifier": "sklearn"}, {"folds": 5}, {"seeds": [1, 2]}]
)
def test_every_setting_counts(config, change):
    plain, other = units(with_transfer(config)), units(with_transfer(config, **change))
    assert plain[("transfer", "tasks")] == other[("transfer", "tasks")]
    assert plain[("transfer", "bag_of_words")] != other[("transfer", "bag_of_words")]


REFUSED = refusals("""
embeddings: [other] => 'other' is not among run.embeddings
sentence_transformers: {tasks: null} => 'tasks' is the name of a unit
vectors: {bag_of_words: x} => 'bag_of_words' is the name of a unit
{sentence_transformers: {a: null}, vectors: {a: x}} => 'a' is in sentence_transformers and in
 vectors
sentence_transformers: {a: {}} => transfer.sentence_transformers.a: one of folder
tasks: [MNLI] => transfer.tasks
folds: 1 => transfer.folds
seeds: [] => transfer.seeds
data: [nothing] => transfer\\.data: .*: no such folder
vectors: {a: missing.txt} => missing.txt
""")


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_what_can_not_be_is_refused_before_the_run(config, change, message):
    with pytest.raises(InputError, match=message):
        run_layout(with_transfer(config, **yaml.safe_load(change)))


def test_a_missing_task_is_noted_or_refused_where_it_is_named(config, tmp_path):
    for path in (tmp_path / "senteval/MRPC").iterdir():
        path.unlink()
    assert any("MRPC not there and left out" in note for note in notes(with_transfer(config)))
    stage = run_layout(with_transfer(config)).stage(Transfer)
    assert "MRPC" not in stage.settings("tasks")["tasks"]
    with pytest.raises(InputError, match="MRPC is in none of"):
        run_layout(with_transfer(config, tasks=["MR", "MRPC"]))


def test_an_encoder_from_the_hub_is_downloaded_by_its_revision(config):
    block = {"hub": "someone/model", "revision": "0" * 40}
    found = with_transfer(config, sentence_transformers={"mini": block})
    stage = run_layout(found).stage(Transfer)
    record = stage.encoder_record("mini")
    assert record.endswith(f"hub/someone--model/{'0' * 40}.json")
    assert stage.hub_block(record) == block
    assert stage.hub_block("other.json") is None
    assert stage.outside("mini") == [record.removesuffix(".json")]
    other = with_transfer(config, sentence_transformers={"mini": {**block, "revision": "1" * 40}})
    assert units(other)[("transfer", "mini")] != units(found)[("transfer", "mini")]
    moved = {**found, "downloads": "elsewhere"}
    assert units(moved)[("transfer", "mini")] == units(found)[("transfer", "mini")]


def test_an_encoder_in_a_folder_counts_by_its_files(config, tmp_path):
    write(tmp_path / "encoder/modules.json", "[]")
    write(tmp_path / "encoder/model.safetensors", "1")
    found = with_transfer(config, sentence_transformers={"mini": {"folder": "encoder"}})
    before = units(found)
    write(tmp_path / "encoder/model.safetensors", "2")
    assert units(found)[("transfer", "mini")] != before[("transfer", "mini")]


def test_the_recipe_tests_three_embeddings_and_an_encoder(config):
    names = ("portuguese", "portuguese-8000", "transfer")
    recipe = resolve([ROOT / f"recipes/{name}.yaml" for name in names], [])
    validate(recipe)
    assert list(transfer(recipe)["sentence_transformers"]) == ["minilm"]
    assert list(embeddings(recipe, training_sets(recipe))) == [
        f"{each}-every-parabank2-seed1" for each in ("word", "trigram", "word_trigram")
    ]


def test_the_docs_name_its_tables(config):
    text = (ROOT / "docs" / "release.md").read_text("utf-8")
    tables = run_layout(with_transfer(config)).stage(Transfer).tables()
    assert all(f"`{name}.tsv`" in text for name in tables)


def test_another_language_is_noted(config):
    found = with_transfer(config)
    found["languages"]["reference"]["code"] = "cs"
    assert any("SentEval's are English" in note for note in notes(found))
    assert not list(notes(with_transfer(config)))
    assert not list(notes(config))
