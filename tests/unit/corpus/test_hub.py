"""Downloads from the Hugging Face hub, against a stand-in for it."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.corpus.hub_server import Hub, hub_serving
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.seal import read_sealed
from workflow_scripts.encoding.sentence_vectors import encoder_folder
from workflow_scripts.stages.corpus import hub
from workflow_scripts.stages.corpus.pin import pinned_model

ROOT = Path(__file__).resolve().parents[3]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = "someone/opus-mt-cs-en"
FILES = {
    "config.json": b"{}",
    "source.spm": b"pieces",
    "target.spm": b"stuecke",
    "vocab.json": json.dumps({"a": 1}).encode(),
    "model.safetensors": b"weights " * 40,
    "README.md": b"---\nlicense: cc-by-4.0\n---\n",
}
OTHERS = {"tf_model.h5": b"other weights" * 20, ".gitattributes": b"", "onnx/model.bin": b"x"}


@pytest.fixture
def served(monkeypatch):
    with hub_serving(Hub(REPOSITORY, COMMIT, {**FILES, **OTHERS})) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running


@pytest.fixture
def output(tmp_path):
    return tmp_path / "hub" / "someone--opus-mt-cs-en" / f"{COMMIT}.json"


def command(output, **changes):
    options = {"repository": REPOSITORY, "revision": COMMIT, "output": output} | changes
    hub.main([word for key, value in options.items() for word in (f"--{key}", str(value))])


def downloaded(output):
    folder = output.with_suffix("")
    names = read_sealed(output)["files"]
    return {name: (folder / name).read_bytes() for name in names}


PARTS = {
    "model.safetensors.index.json": b'{"weight_map": {}}',
    **{f"model-0000{number}-of-00002.safetensors": b"part" * number for number in (1, 2)},
}


@pytest.mark.parametrize("weights", [("model.safetensors",), tuple(PARTS)])
def test_the_files_of_the_model_come_and_no_others(served, output, weights):
    others = {"model.safetensors"} - {*weights}
    files = {name: content for name, content in (FILES | PARTS).items() if name not in others}
    served.files = {**files, **OTHERS}
    command(output)
    files = {name: files[name] for name in (FILES.keys() - {"model.safetensors"}) | {*weights}}
    assert downloaded(output) == files
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    assert read_sealed(output)["files"] == hashes
    assert read_sealed(output)["url"] == f"hub:{REPOSITORY}@{COMMIT}"
    assert not (output.with_suffix("") / "tf_model.h5").exists()


def test_a_folder_of_the_repository_may_hold_the_model(served, output):
    served.files = {f"students/{name}": content for name, content in FILES.items()}
    command(output, path="students")
    folder = output.with_suffix("") / "students"
    assert {name: (folder / name).read_bytes() for name in FILES} == FILES


ENCODER = {
    "modules.json": b"[]",
    "config.json": b"{}",
    "1_Pooling/config.json": b'{"a": 1}',
    "model.safetensors": b"weights",
}


@pytest.mark.parametrize("path", [None, "small/one"])
def test_the_files_of_an_encoder_come_with_their_folders(served, output, path):
    others = {"README.md": b"read", "onnx/model.onnx": b"x", "pytorch_model.bin": b"x"}
    files = {**ENCODER, **others}
    served.files = {f"{path}/{name}" if path else name: each for name, each in files.items()}
    command(output, encoder="modules.json", **({"path": path} if path else {}))
    folder = output.with_suffix("") / (path or ".")
    names = read_sealed(output)["files"]
    assert {name: (folder / name).read_bytes() for name in names} == ENCODER
    assert not (folder / "README.md").exists()
    settings = {"hub": REPOSITORY, "record": output, **({"path": path} if path else {})}
    assert encoder_folder(settings) == folder


def test_a_repository_without_an_encoder_is_refused(served, output):
    with pytest.raises(InputError, match=r"hub someone/.*has no modules\.json"):
        hub.fetch(REPOSITORY, COMMIT, None, output.with_suffix(""), encoder="modules.json")


@pytest.fixture
def small_pieces(monkeypatch):
    """The library writes such pieces, of a file of many megabytes, and waits between its tries."""
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 64)
    monkeypatch.setattr("time.sleep", lambda seconds: None)


@pytest.mark.usefixtures("small_pieces")
def test_a_connection_that_is_cut_is_taken_up_again(served, output):
    served.cut_after = [100, 0]
    command(output)
    assert downloaded(output) == FILES
    assert served.ranges[1:4] == [None, "bytes=64-", "bytes=64-"]


@pytest.mark.usefixtures("small_pieces")
def test_after_a_failure_files_that_are_there_are_not_asked_for_again(served, output):
    served.cut_after = [100] + [0] * 30
    with pytest.raises(InputError, match=rf"hub {REPOSITORY}, model\.safetensors: .*HF_ENDPOINT"):
        command(output)
    assert not output.exists()
    served.cut_after = []
    served.ranges.clear()
    command(output)
    assert downloaded(output) == FILES
    assert len(served.ranges) == 5  # all but config.json


@pytest.mark.slow
def test_a_kill_in_the_middle_leaves_no_record_and_the_next_call_ends_well(served, output):
    served.go_on.clear()
    words = ["--repository", REPOSITORY, "--revision", COMMIT, "--output", str(output)]
    process = subprocess.Popen(
        [sys.executable, "-m", "workflow_scripts.stages.corpus.hub", *words],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
    )
    assert served.stalled.wait(60)
    process.kill()
    process.communicate()
    served.go_on.set()
    assert not output.exists()
    command(output)
    assert downloaded(output) == FILES


def test_wrong_bytes_are_thrown_away(served, output):
    served.sent = {"model.safetensors": b"weightS " * 40}
    with pytest.raises(InputError, match=r"model\.safetensors: what came has the SHA-256"):
        command(output)
    assert not output.exists()
    served.sent = {}
    command(output)
    assert downloaded(output) == FILES


WITHOUT_WEIGHTS = {name: each for name, each in FILES.items() if name != "model.safetensors"}


@pytest.mark.parametrize(
    ("behaviour", "changes", "message"),
    [
        ({}, {"repository": "someone/nothing"}, r"hub someone/.*: 404.*Look at the names"),
        ({}, {"revision": "f" * 40}, r"hub someone/.*: 404.*Look at the names"),
        ({"gated": True}, {}, r"config.json: 403.*accept its terms.*set HF_TOKEN"),
        ({"files": WITHOUT_WEIGHTS}, {}, r"no Hugging Face Marian folder: model\.safetensors or"),
    ],
)
def test_what_the_hub_does_not_give_is_told(served, output, behaviour, changes, message):
    vars(served).update(behaviour)
    with pytest.raises(InputError, match=message):
        command(output, **changes)
    assert not output.exists()


def test_a_hub_that_is_down_is_told(served, output, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(InputError, match=r"hub someone/.*Look at the names, at the network"):
        command(output)


def test_a_model_of_the_hub_is_pinned_by_its_newest_commit_and_all_hashes(served, tmp_path):
    config = {"downloads": str(tmp_path)}
    found = pinned_model("opus", {"hub": REPOSITORY, "revision": None}, config, None)
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
    assert found == {"revision": COMMIT, "sha256": hashes}
    served.files = {}  # what was downloaded to pin it serves the run as well
    record = tmp_path / "hub" / "someone--opus-mt-cs-en" / f"{COMMIT}.json"
    assert downloaded(record) == FILES


def test_without_the_hubs_library_pinning_says_what_is_needed(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "workflow_scripts.stages.corpus.hub", None)
    with pytest.raises(InputError, match=r"models\.opus: to pin a model of the hub, the package"):
        pinned_model("opus", {"hub": REPOSITORY}, {"downloads": str(tmp_path)}, None)
