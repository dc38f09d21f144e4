"""Blocks of encoders in the configuration: what is wrong with them, and their files."""

import re

import pytest
import yaml

from tests.configs import ROOT, refusals
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.catalogues.encoder_blocks import (
    DEFAULT,
    encoder_files,
    encoder_settings,
    hub_record,
    own_files,
    problems,
)

COMMIT = "0123456789abcdef0123456789abcdef01234567"
MODEL = [
    *("modules.json", "config.json", "vocab.txt", "1_Pooling/config.json", "spiece.model"),
    "model.safetensors",
]


def test_the_default_is_the_package_that_is_pinned():
    pinned = (ROOT / "requirements" / "encoder.in").read_text("utf-8")
    name = DEFAULT["package"].replace("_", "-")
    assert re.search(rf"(?m)^{name}=={re.escape(DEFAULT['version'])}$", pinned)


def test_the_files_of_an_encoder_are_those_that_its_library_reads():
    others = ["README.md", "onnx/model.onnx", "onnx/config.json", "openvino/x.json", "own.py"]
    assert encoder_files([*MODEL, *others, "pytorch_model.bin"], "x") == sorted(MODEL)
    old = [name for name in MODEL if name != "model.safetensors"]
    assert "pytorch_model.bin" in encoder_files([*old, "pytorch_model.bin"], "x")


@pytest.mark.parametrize(
    ("left_out", "message"),
    [
        ("modules.json", r"x is no model of sentence-transformers: it has no modules\.json"),
        ("model.safetensors", r"it has no weights \(\.safetensors\)"),
    ],
)
def test_what_is_no_encoder_is_refused(left_out, message):
    with pytest.raises(InputError, match=message):
        encoder_files([name for name in MODEL if name != left_out], "x")


WRONG = """
{} => c: one of folder, hub, package says where the encoder is
{folder: a, hub: b/c} => c: one of folder, hub, package says where
hub: b/c => c: key 'revision' is missing, which hub needs
package: b => c: key 'version' is missing, which package needs
{folder: a, path: b} => c: path does not go with folder; take it out
{package: b, version: '1', path: a/../..} => c.path: 'a/../..' leads out of the package; name a
    folder inside it
"""


@pytest.mark.parametrize(("block", "message"), refusals(WRONG))
def test_what_is_wrong_with_a_block_is_told(block, message):
    (found,) = problems(yaml.safe_load(block), "c")
    assert found.startswith(message)


@pytest.mark.parametrize(
    "block",
    [
        None,
        {"folder": "a"},
        {"hub": "b/c", "revision": COMMIT, "path": "d"},
        {"package": "b", "version": "1"},
    ],
)
def test_a_good_block_has_no_problem(block):
    assert not list(problems(block, "c"))


def test_what_a_job_is_told(tmp_path):
    config = {"data": str(tmp_path), "downloads": "kept"}
    assert encoder_settings(None, config) == DEFAULT
    folder = encoder_settings({"folder": "model"}, config)["folder"]
    assert (str(folder), folder.name) == (f"{tmp_path}/model", "model")
    package = {"package": "b", "version": "1"}
    assert encoder_settings(package, config) == {**package, "path": "."}
    hub = {"hub": "someone/model", "revision": COMMIT}
    record = f"kept/hub/someone--model/{COMMIT}.json"
    assert encoder_settings(hub, config) == {**hub, "record": record}
    assert hub_record(hub, config) == record
    assert hub_record(package, config) == hub_record(None, config) == ""


def test_the_files_of_a_users_folder(tmp_path):
    config = {"data": str(tmp_path)}
    for name in [*MODEL, "README.md"]:
        (tmp_path / "model" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "model" / name).touch()
    found = own_files({"folder": "model"}, config, "c")
    assert found == {name: f"{tmp_path}/model/{name}" for name in sorted(MODEL)}
    assert own_files({"package": "b"}, config, "c") == own_files(None, config, "c") == {}
    with pytest.raises(InputError, match=r"c\.folder: .*other: no such folder; correct the path"):
        own_files({"folder": "other"}, config, "c")
