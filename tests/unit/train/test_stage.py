"""Planning with finished models: what is made, what counts, what is refused beforehand."""

import copy
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.configs import refusal, run_on_testbed
from tests.unit.nmt.families import KINDS
from tests.unit.nmt.folders import write_model
from tests.unit.nmt.marian_files import write_binary
from tests.unit.nmt.nllb_files import write_nllb
from tests.unit.nmt.test_families import made
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan import selection
from workflow_scripts.stages.catalogue import run_layout
from workflow_scripts.stages.release.stage import Release
from workflow_scripts.stages.train.checks import notes
from workflow_scripts.stages.train.stage import Train

PACKAGE = {"package": "no_such_package", "version": "1.0", "path": "models/pten"}
COMMIT = "a" * 40
HUB = {"hub": "someone/opus", "revision": COMMIT}
URL = {"url": ["https://a.org/model.pten.bin.gz", "https://a.org/vocab.spm"]}
HASHES = {"sha256": ["1" * 64, "2" * 64]}


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return run_on_testbed()


def finished(config, forward, backward=PACKAGE, **train):
    """Return a configuration with two finished models."""
    other = copy.deepcopy(config)
    other["models"] |= {"one": forward, "other": backward}
    other["train"] |= {"test": None, "dev": None} | train
    other["train"]["models"] |= {"forward": "one", "backward": "other"}
    return other


def key(config, role="forward"):
    return run_layout(config).key("train", role)


def taken_from(stage):
    """Return the files that the forward model is taken over from, as its job is told them."""
    return stage.take_over_job(SimpleNamespace(finished_role="forward")).users


def units(config):
    return [
        unit for unit in run_layout(config).units() if unit[0] in ("corpus", "subword", "train")
    ]


def test_with_two_finished_models_nothing_is_trained_and_no_text_is_there_to_train(config):
    found = finished(config, PACKAGE)
    assert units(found) == [
        ("corpus", "testbed"),
        ("corpus", "testbed_held_out"),
        ("train", "forward"),
        ("train", "backward"),
    ]
    layout = run_layout(found)
    assert layout.upstream(("train", "forward")) == [("clean", None)]
    assert not layout.declaration("train").trains("forward")
    assert selection.training_corpora(found) == []


def test_a_test_corpus_is_measured_on_and_dev_has_no_use(config):
    found = finished(config, PACKAGE, test="testbed_test", dev="testbed_dev")
    assert ("corpus", "testbed_test") in units(found)
    assert ("corpus", "testbed_dev") not in units(found)


def test_of_two_models_one_may_be_finished(config):
    found = finished(config, PACKAGE, test="testbed_test", dev="testbed_dev")
    found["train"]["models"]["backward"] = "testbed_scoring"
    layout = run_layout(found)
    assert ("subword", "main") in layout.units()
    assert layout.upstream(("train", "backward")) == [("subword", "main")]
    assert layout.upstream(("train", "forward")) == [("clean", None)]
    found["train"]["dev"] = None
    with pytest.raises(InputError, match=r"train\.dev: null, but backward can't be trained"):
        run_layout(found)


def test_models_of_the_filter_may_be_finished(config):
    found = finished(config, PACKAGE)
    found["dual_filter"]["enabled"] = True
    found["corpora"]["testbed"]["trusted"] = False
    found["train"]["models"] |= {"filter_forward": "one", "filter_backward": "other"}
    layout = run_layout(found)
    assert not [unit for unit in layout.units() if unit[0] == "subword"]
    assert layout.upstream(("train", "filter_forward")) == [("clean", None)]
    assert layout.upstream(("train", "forward")) == [("dual_filter", "kept")]


def test_the_idf_of_words_is_that_of_the_whole_bitext_if_no_model_is_trained(config):
    found = finished(config, PACKAGE)
    found["run"]["systems"] = ["parabank"]
    assert run_layout(found).settings(("generate", "idf"))["corpora"] == found["run"]["corpora"]


# --- seen and held out ----------------------------------------------------------------------


def groups(config):
    return run_layout(config).settings(("evaluate", "parabank2"))["groups"]


def test_what_a_finished_model_has_seen_is_unknown_unless_it_is_declared(config):
    assert groups(finished(config, PACKAGE)) == {
        "unknown": ["testbed", "testbed_held_out"],
        "seen": [],
    }
    nothing = PACKAGE | {"trained_on": []}
    one = PACKAGE | {"trained_on": ["testbed"]}
    assert groups(finished(config, nothing, one)) == {
        "held_out": ["testbed_held_out"],
        "seen": ["testbed"],
    }
    assert groups(finished(config, one, PACKAGE)) == {
        "unknown": ["testbed_held_out"],
        "seen": ["testbed"],
    }


def test_what_is_told_of_a_model_does_not_move_its_folder_but_is_released(config):
    before = finished(config, PACKAGE)
    after = finished(config, PACKAGE | {"licence": "MPL-2.0", "trained_on": ["testbed"]})
    assert key(before) == key(after)
    assert run_layout(after).stage(Train).settings("forward")["model"]["licence"] == "MPL-2.0"
    told = run_layout(after).stage(Release).settings(None)["models"]
    assert told[0] == {
        "role": "forward",
        "name": "one",
        "origin": "package no_such_package 1.0, models/pten",
        "licence": "MPL-2.0",
        "trained_on": ["testbed"],
    }
    assert (told[1]["licence"], told[1]["trained_on"]) == (None, "unknown")
    assert "models" not in run_layout(config).stage(Release).settings(None)


# --- what counts ----------------------------------------------------------------------------


def test_a_package_counts_by_version_path_and_hashes_and_need_not_be_here(config):
    changes = [{"version": "1.1"}, {"path": "models/enpt"}, {"sha256": {"model.bin": "0" * 64}}]
    keys = {key(finished(config, PACKAGE | change)) for change in [{}, *changes]}
    assert len(keys) == 4
    layout = run_layout(finished(config, PACKAGE))
    assert taken_from(layout.stage(Train)) == []


def test_a_tag_and_a_shortlist_count_and_no_shortlist_is_as_none(config):
    tag, shortlist, without = {"tag": ">>por<<"}, {"shortlist": True}, {"shortlist": False}
    keys = [key(finished(config, PACKAGE | each)) for each in ({}, tag, shortlist, without)]
    assert len(set(keys)) == 3
    assert keys[0] == keys[3]


def test_one_folder_counts_by_the_languages_that_are_chosen(config, tmp_path):
    folder = {"folder": str(write_nllb(tmp_path / "nllb", ["ab"]))}
    there, written = {"source": "ces", "target": "eng"}, {"source": "ces_Latn", "target": "eng"}
    found = [key(finished(config, folder | each)) for each in (there, written)]
    assert len(set(found)) == 2
    write_binary(tmp_path / "marian")
    with pytest.raises(InputError, match=r"^models\.one\.source: Marian .bin has no languages to"):
        run_layout(finished(config, {"folder": "marian"} | there))


def test_chosen_languages_are_those_of_the_role(config):
    there, back = {"source": "ces_Latn", "target": "en"}, {"source": "eng_Latn", "target": "cs"}
    assert not list(Train.problems(finished(config, PACKAGE | there, PACKAGE | back)))
    both = finished(config, PACKAGE | back, PACKAGE | back)
    exchange = "exchange the models of the two directions (train.models.forward)"
    assert list(Train.problems(both)) == [
        "models.one.source: 'eng_Latn', but languages.source.code, which the forward model reads, "
        f"is 'cs'; {exchange}",
        "models.one.target: 'cs', but languages.reference.code, which the forward model writes, "
        f"is 'en'; {exchange}",
    ]
    other = finished(config, PACKAGE | there | {"source": "ukr_Cyrl"}, PACKAGE | back)
    assert list(Train.problems(other)) == [
        "models.one.source: 'ukr_Cyrl', but languages.source.code, which the forward model reads, "
        "is 'cs'; correct one of them"
    ]


def test_a_code_that_the_model_does_not_have_is_told_with_the_nearest(config, tmp_path):
    folder = write_nllb(tmp_path / "nllb", ["ab"])
    model = {"folder": str(folder), "source": "ces_Latm", "target": "eng"}
    assert list(Train.problems(finished(config, model))) == [
        "models.one.source: 'ces_Latm' is no language of the model; the nearest of its 3 are "
        "ces_Latn, eng_Latn, por_Latn"
    ]
    model |= {"source": "cs", "target": "en"}
    assert len(list(Train.problems(finished(config, model)))) == 2
    shutil.copytree(folder, Path(config["downloads"]) / "hub" / "someone--opus" / COMMIT)
    assert "'cs' is no language" in refusal(
        finished(config, HUB | {"source": "cs", "target": "en"})
    )
    (folder / "tokenizer_config.json").write_text('{"language_codes": "m2m100"}', encoding="utf-8")
    assert not list(Train.problems(finished(config, model)))
    for path in folder.glob("*token*"):
        path.unlink()
    (folder / "sentencepiece.bpe.model").write_bytes(b"")  # no file tells codes
    assert not list(Train.problems(finished(config, model)))


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if kind.chosen])
def test_languages_that_can_be_loaded_are_known_before(config, tmp_path, kind):
    made(tmp_path / "model", kind)
    model = {"folder": str(tmp_path / "model")} | kind.chosen
    assert not [told for told in Train.problems(finished(config, model)) if "no language" in told]
    (told,) = [
        told
        for told in Train.problems(finished(config, model | {"target": "xxx"}))
        if "no language" in told
    ]
    assert told.startswith("models.one.target: 'xxx' is no language of the model; the nearest of")


def test_licences_that_forbid_commerce_are_told_before_a_run(config, tmp_path):
    folder = str(write_nllb(tmp_path / "nllb", ["ab"]))
    for licence in ("CC-BY-NC-4.0", "cc-by-nc-sa-3.0", "CC BY-NC 4.0", "for non-commercial use"):
        assert list(notes(finished(config, PACKAGE | {"licence": licence}))) == [
            f"models.one: its licence ({licence}) forbids commercial use, which may bind what the "
            "model writes as well"
        ]
    for licence in ("CC-BY-4.0", "MIT", "cc0-1.0", "Apache-2.0; ncsa", "for commercial use"):
        assert not list(notes(finished(config, PACKAGE | {"licence": licence})))
    beside = finished(config, {"folder": folder, "source": "ces", "target": "eng"})
    (note,) = list(notes(beside))
    assert "models.one: its licence (cc-by-nc-4.0) forbids" in note
    assert note in run_layout(beside).notes()
    assert not list(notes(finished(config, {"folder": folder, "licence": "MIT"})))
    hub = finished(config, HUB, HUB | {"revision": None})
    assert not list(notes(hub))  # it is not downloaded yet
    shutil.copytree(folder, Path(config["downloads"]) / "hub" / "someone--opus" / COMMIT)
    assert list(notes(hub)) == [note]
    assert not list(notes(finished(config, {"folder": str(tmp_path / "gone")})))
    unused = finished(config, PACKAGE)
    unused["models"]["unused"] = PACKAGE | {"licence": "CC-BY-NC-4.0"}
    assert not list(notes(unused))


def test_downloads_count_by_their_hashes_and_not_by_their_address(config):
    moved = {"url": [url.replace("a.org", "b.org") for url in URL["url"]]}
    assert key(finished(config, URL | HASHES)) == key(finished(config, moved | HASHES))
    other = {"sha256": ["1" * 64, "3" * 64]}
    assert key(finished(config, URL | HASHES)) != key(finished(config, URL | other))
    stage = run_layout(finished(config, URL | HASHES)).stage(Train)
    paths = [f"downloads/{'1' * 64}/model.pten.bin.gz", f"downloads/{'2' * 64}/vocab.spm"]
    assert taken_from(stage) == paths
    assert stage.outside("forward") == paths
    assert stage.url("2" * 64, "vocab.spm") == "https://a.org/vocab.spm"
    assert stage.url("2" * 64, "model.spm") is None


def test_the_hub_counts_by_the_commit(config):
    pinned = HUB | {"sha256": {"config.json": "0" * 64}}
    assert key(finished(config, HUB)) == key(finished(config, pinned))
    assert key(finished(config, HUB)) != key(finished(config, HUB | {"revision": "b" * 40}))
    stage = run_layout(finished(config, HUB)).stage(Train)
    record = f"downloads/hub/someone--opus/{COMMIT}.json"
    assert taken_from(stage) == [record]
    assert stage.outside("forward") == [record.removesuffix(".json")]
    assert stage.hub_block(record)["hub"] == "someone/opus"


PINS = r"models\.one: the .*known yet.*corpus pin --configfile"


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (PACKAGE | {"trained_on": ["testbd"]}, r"models\.one\.trained_on: 'testbd' is not in corp"),
        (URL, PINS),
        (HUB | {"revision": None}, PINS),
        ({"folder": "empty"}, r"models\.one\.folder: empty is no model folder"),
        ({"folder": "nowhere"}, r"models\.one\.folder: nowhere is no folder"),
    ],
)
def test_what_can_not_be_planned_is_told(config, tmp_path, block, message):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=message):
        run_layout(finished(config, block))


def test_two_folders_of_one_commit_of_the_hub_are_refused(config):
    one, other = HUB | {"path": "there"}, HUB | {"path": "back"}
    message = refusal(finished(config, one, other))
    assert "models.other: models.one is of the same commit of someone/opus" in message
    run_layout(finished(config, one, one))


def test_a_folder_counts_by_the_content_of_the_models_own_files(config, tmp_path):
    folder = write_binary(tmp_path / "own")
    before = key(finished(config, {"folder": "own"}))
    (folder / "notes.txt").write_text("x", encoding="utf-8")
    assert key(finished(config, {"folder": "own"})) == before
    folder.rename(tmp_path / "moved")
    assert key(finished(config, {"folder": "moved"})) == before
    (tmp_path / "moved" / "paraloom.json").write_text(json.dumps({"tag": None}), encoding="utf-8")
    assert key(finished(config, {"folder": "moved"})) != before


def test_a_sockeye_folder_needs_its_text_models_and_others_must_not_have_them(config, tmp_path):
    write_model(tmp_path / "sockeye")
    write_binary(tmp_path / "marian")
    for name in ("s", "r"):
        (tmp_path / name).write_bytes(b"")
    texts = {"source_model": "s", "reference_model": "r", "trained_on": "unknown"}
    with pytest.raises(InputError, match=r"models\.one: Sockeye 3 needs source_model and"):
        run_layout(finished(config, {"folder": "sockeye"}))
    layout = run_layout(finished(config, {"folder": "sockeye"} | texts))
    assert {"s", "r", "sockeye/params.best"} <= layout.declaration("train").inputs("forward").keys()
    block = {key: value for key, value in texts.items() if key != "trained_on"}
    with pytest.raises(InputError, match=r"models\.one: Marian .bin needs trained_on, such as"):
        run_layout(finished(config, {"folder": "marian"} | block, test=None, dev="testbed_dev"))
    with pytest.raises(InputError, match=r"brings its own text models; take source_model and"):
        run_layout(finished(config, {"folder": "marian"} | texts))


def test_a_sockeye_folder_as_of_old_counts_as_trained_here(config, tmp_path):
    """Such runs have the folders that they had before `trained_on` came."""
    write_model(tmp_path / "sockeye")
    (tmp_path / "sockeye" / "version").write_text("3.1.34", encoding="utf-8")
    for name in ("s", "r"):
        (tmp_path / name).write_bytes(b"")
    block = {"folder": "sockeye", "source_model": "s", "reference_model": "r"}
    found = finished(config, block, block, test="testbed_test", dev="testbed_dev")
    layout = run_layout(found)
    assert layout.upstream(("train", "forward")) == [("subword", "main")]
    assert groups(found) == groups(config)
    settings = layout.declaration("train").content("forward")
    assert settings.keys() == {"role", "direction", "model", "seed"}
    assert "params.best" in settings["model"]
    assert "source_model" in settings["model"]


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (PACKAGE | {"folder": "x"}, "a model of your own has one of folder, url, hub and package"),
        ({"package": "x"}, "'package' needs key 'version', which is missing"),
        ({"folder": "x", "version": "1"}, "'version' needs key 'package', which is missing"),
        (PACKAGE | {"size": 3}, "unknown size: a model of your own has a name of its own"),
        (PACKAGE | {"path": "a/../../b"}, "path 'a/../../b' leads out of the package"),
        (
            PACKAGE | {"sha256": "0" * 64},
            "sha256 of a package is a mapping from the names of files",
        ),
        (URL | {"sha256": "0" * 64}, "2 url, but 1 sha256"),
        (URL | {"sha256": {"a": "0" * 64}}, "one hash, or a list of them in the order of url"),
        ({"url": "https://a.org/config.json"}, "a .json file can't be downloaded by itself"),
        ({"url": ["https://a.org/x", "https://b.org/x"]}, "two files of the name x in url"),
        ({"url": "ftp://a.org/x"}, "models.one.url"),
        ({"hub": "opus"}, "models.one.hub: 'opus' does not match"),
        ({"hub": "a/b", "revision": "main"}, "models.one.revision: 'main' does not match"),
        (PACKAGE | {"tag": "por"}, "models.one.tag: 'por' does not match"),
        (PACKAGE | {"source": "por_Latn"}, "'source' needs key 'target', which is missing"),
        (PACKAGE | {"source": "", "target": "en"}, "models.one.source: '' does not match"),
        (
            PACKAGE | {"source": "pt", "target": "en", "tag": ">>por<<"},
            "a model has a tag, or source and target, never both; take one out",
        ),
        (PACKAGE | {"trained_on": "all"}, "models.one.trained_on"),
    ],
)
def test_a_wrong_block_is_told_before_anything_runs(config, block, message):
    assert message in refusal(finished(config, block))
