"""What is finished, on a made-up layout: data -> words -> model -> text -> page."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.paths import Located
from workflow_scripts.core.files.seal import sealed
from workflow_scripts.plan.finished import Finished, other_content, read_manifest, trained_anew

READS = {"data": [], "words": ["data"], "model": ["words"], "text": ["data", "model"]}
READS["page"] = ["data", "text"]
UNITS = [(name, None) for name in READS]
DATA, WORDS, MODEL, TEXT, PAGE = UNITS


class Declared:
    def __init__(self, name):
        self.name = name

    def trains(self, instance):
        return self.name == "model"

    def files(self, instance):
        return ["index.html"] if self.name == "page" else []


class Flow:
    """What `Finished` asks a layout for."""

    def declaration(self, stage):
        return Declared(stage)

    def units(self):
        return UNITS

    def upstream(self, unit):
        return [(name, None) for name in READS[unit[0]]]

    def all_upstream(self, units):
        found = set(units)
        for unit in reversed(UNITS):
            found.update(self.upstream(unit) if unit in found else [])
        return found

    def key(self, stage, instance=None):
        return "v1-0123456789ab"

    def folder(self, stage, instance=None):
        return f"results/{stage}/v1-0123456789ab"

    def settings(self, unit):
        return {"seed": 2, "vectors": Located("data/vectors.txt", "data")}

    def records(self, stage, instance=None):
        return ["model"] if stage == "model" else ["0000", "0001"]


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(sealed(content)), encoding="utf-8")


def folder(unit):
    return Path(flow.folder(*unit))


def make_records(unit, content="as ever"):
    for name in flow.records(*unit):
        data = folder(unit) / f"{name}.bin"
        write(data.with_suffix(".json"), {"files": {data.name: content}})
        data.touch()
    for name in flow.declaration(unit[0]).files(None):
        (folder(unit) / name).touch()


def make_manifest(unit):
    parts = {
        name: json.loads((folder(unit) / f"{name}.json").read_text("utf-8"))
        for name in flow.records(*unit)
    }
    read = {
        f"{name}/{flow.key(name)}": hashlib.sha256(
            (folder((name, None)) / "manifest.json").read_bytes()
        ).hexdigest()
        for name, _ in flow.upstream(unit)
    }
    config = {"seed": 1, "vectors": "vectors.txt"}
    write(folder(unit) / "manifest.json", {"parts": parts, "upstream": read, "config": config})


def make(unit, content="as ever"):
    make_records(unit, content)
    make_manifest(unit)


def lose(unit, *names):
    for name in names:
        (folder(unit) / name).unlink()
    if not names:
        shutil.rmtree(folder(unit))


flow = Flow()


@pytest.fixture(autouse=True)
def run(tmp_path, monkeypatch):
    """A finished run in the working directory, with times that no run leaves."""
    monkeypatch.chdir(tmp_path)
    for unit in UNITS:
        make(unit)
    for second, path in enumerate(sorted(Path("results").rglob("*.*"), reverse=True)):
        os.utime(path, (1_700_000_000 + second, 1_700_000_000 + second))


def messages(targets=UNITS, again=(), omitted=()):
    return [each.message for each in Finished(flow, again).refused(targets, omitted)]


def test_all_of_a_finished_run_is_spared_whatever_its_times():
    before = {path: path.stat().st_mtime_ns for path in Path("results").rglob("*")}
    found = Finished(flow)
    assert found.spared == set(UNITS)
    assert not found.files and not found.refusals and not found.trained
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.mark.parametrize(
    "names", [(), ("manifest.json",), ("0000.bin",), ("0000.json", "0000.bin")]
)
@pytest.mark.parametrize("unit", [DATA, WORDS])
def test_what_is_lost_is_made_again_alone(unit, names):
    lose(unit, *names)
    found = Finished(flow)
    assert found.spared == set(UNITS) - {unit}
    assert not messages()
    # What is gone as a whole is made again once something needs it.
    lost = [f"{flow.folder(*unit)}/{name}" for name in sorted(names, reverse=True)]
    assert found.files == ({unit: lost} if names else {})


def test_a_lost_file_of_a_model_is_refused_until_it_is_asked_for():
    lose(MODEL, "model.bin")
    (message,) = messages()
    record = f"{flow.folder(*MODEL)}/model.json"
    assert "model.bin is gone. To make it again would train once more: model. " in message
    assert f"add --forcerun {record}," in message
    assert MODEL in Finished(flow).trained
    for asked in (MODEL, WORDS, DATA):
        found = Finished(flow, [asked])
        assert not found.refusals and MODEL in found.files
    # Other units can be made; and a model that is left out needs no file.
    assert not messages([WORDS])
    assert not messages(omitted=[MODEL]) and not messages(omitted=[WORDS])


def test_a_lost_file_of_a_model_is_told_where_something_else_is_forced():
    lose(MODEL, "model.bin")
    (refusal,) = Finished(flow, [PAGE]).refused(UNITS)
    assert refusal.spared
    lose(MODEL, "model.json")
    (refusal,) = Finished(flow, [PAGE]).refused(UNITS)
    assert not refusal.spared


def test_a_model_that_is_gone_as_a_whole_is_refused_where_it_is_needed():
    lose(MODEL)
    (message,) = messages()
    assert f"{flow.folder(*MODEL)} is gone, of which other finished units were made" in message
    assert not messages([PAGE])  # which is there, and waits for nothing


def test_a_model_whose_record_the_user_deleted_is_trained_again():
    lose(MODEL, "model.bin", "model.json", "manifest.json")
    assert not messages()


def test_a_model_without_its_manifest_stays():
    lose(MODEL, "manifest.json")
    found = Finished(flow)
    assert found.trained == {MODEL} and not messages()
    lose(MODEL, "model.bin")
    assert "model.bin is gone" in messages()[0]


def test_a_model_without_its_manifest_and_what_it_read_can_t_be_judged():
    lose(MODEL, "manifest.json")
    lose(WORDS)
    (message,) = messages()
    assert "whether the model must be trained once more can't be known. Put words or" in message
    make(WORDS)
    assert not messages()


def test_a_unit_of_other_content_is_made_again_and_a_model_of_it_refused():
    make(WORDS, "another")
    found = Finished(flow)
    assert found.spared == {DATA, WORDS}
    assert found.kept == {MODEL}
    (message,) = messages()
    assert "model was made of another words than is there now" in message
    assert f"delete {flow.folder(*MODEL)}/manifest.json, to keep the model" in message
    lose(MODEL, "manifest.json")
    assert not messages()
    assert not Finished(flow).kept
    make_manifest(MODEL)
    found = Finished(flow)
    # The text is of another model by its manifest.
    assert found.spared == {DATA, WORDS, MODEL}
    assert f"{flow.folder(*TEXT)}/0000.json" in found.files[TEXT]


def test_what_follows_a_unit_of_other_content_is_not_spared():
    make(DATA, "another")
    assert Finished(flow).spared == {DATA}
    assert "model was made of words, which is to be made again with another" in messages()[0]


def test_a_record_that_is_newer_than_its_manifest_changes_what_follows():
    make_records(WORDS, "another")
    assert Finished(flow).spared == {DATA}
    make_records(WORDS)
    assert Finished(flow).spared == set(UNITS)


def test_what_the_user_wants_again_is_not_spared():
    found = Finished(flow, [MODEL])
    assert found.spared == {DATA, WORDS}
    assert not found.trained and not found.refusals


def test_content_that_changed_meanwhile_is_told():
    lose(DATA)
    found = Finished(flow)
    make(DATA)
    assert not found.changed_since()
    make(DATA, "another")
    assert found.changed_since() == {WORDS: [DATA], TEXT: [DATA], PAGE: [DATA]}


def test_a_model_that_is_trained_once_more_is_told_with_what_changed(monkeypatch):
    assert list(trained_anew(flow)) == []
    monkeypatch.setattr(Flow, "key", lambda self, stage, _=None: f"v1-{stage:0<12.12}")
    monkeypatch.setattr(Flow, "folder", lambda self, stage, _=None: f"results/{stage}/v1-new")
    text = "model is not trained yet as this run wants it; results/model/v1-0123456789ab differs in"
    assert list(trained_anew(flow)) == [f"{text} its settings, words"]
    settings = {**flow.settings(MODEL), "seed": 1}
    monkeypatch.setattr(Flow, "settings", lambda *_: settings)
    assert list(trained_anew(flow)) == [f"{text} words"]
    (folder(MODEL)).mkdir()
    assert list(trained_anew(flow)) == []


def test_a_damaged_manifest_is_an_error():
    path = folder(TEXT) / "manifest.json"
    path.write_text(path.read_text("utf-8").replace("as ever", "as never"), encoding="utf-8")
    with pytest.raises(InputError, match=r"is damaged .*; delete it and run again"):
        Finished(flow)


def test_the_folder_of_another_unit_is_an_error():
    place = folder(WORDS)
    content = {"name": "words/v1-0123456789ab", "parts": {}, "upstream": {}}
    write(place / "manifest.json", content)
    assert Finished(flow)
    write(place / "manifest.json", content | {"name": "words/v1-ba9876543210"})
    with pytest.raises(InputError, match=r"manifest.json is that of words/v1-ba9876543210: "):
        Finished(flow)


def test_content_is_compared_from_any_folder(tmp_path, monkeypatch):
    manifest = read_manifest(flow, TEXT)
    monkeypatch.chdir("/")
    assert not other_content(flow, TEXT, manifest, tmp_path)
    monkeypatch.chdir(tmp_path)
    make(DATA, "another")
    monkeypatch.chdir("/")
    assert other_content(flow, TEXT, manifest, tmp_path) == [DATA]
