"""Model files, whole and damaged: Marian's, CTranslate2's, those of Hugging Face, tokenizers."""

import io
import json
import struct

import numpy as np
import pytest
import torch
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzz.cases import damaged, damages, file, fuzz, outcome
from tests.unit.nmt import ctranslate2_files, marian_files
from tests.unit.nmt.marian_files import FLOAT16, FLOAT32, INTGEMM8, OPTIONS, parameters
from tests.unit.nmt.test_tokenizers import byte_level, metaspace
from workflow_scripts.core.text.subword_model import SubwordModel
from workflow_scripts.nmt.inspect import inspect
from workflow_scripts.nmt.loaders import ctranslate2_file, marian, marian_options
from workflow_scripts.nmt.loaders.marian_items import read_binary, read_npz
from workflow_scripts.nmt.shortlist import read_shortlist
from workflow_scripts.nmt.vocabulary import SYMBOLS

ITEMS = {"Wemb": torch.arange(12.0).view(4, 3) - 5, "a_W": torch.ones(3, 2), "b": torch.ones(1, 3)}
OPTIONS_OF_ATTENTION = OPTIONS | {"transformer-decoder-autoreg": "self-attention"}
kinds = st.sampled_from([FLOAT16, FLOAT32, INTGEMM8])
# Numbers that reach into every field of a file's head.
numbers = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 300), st.just(2**63))
fields = st.lists(st.tuples(st.integers(0, 40), numbers), max_size=2)


def with_fields(content, changed):
    """Return the content with 64-bit numbers changed, given which ones."""
    content = bytearray(content)
    for place, number in changed:
        if 8 * place + 8 <= len(content):
            content[8 * place : 8 * place + 8] = struct.pack("<Q", number)
    return bytes(content)


def same(found, items, error):
    assert found.tensors.keys() == items.keys()
    for name, tensor in items.items():
        assert torch.allclose(found.tensors[name], tensor, atol=error)


@fuzz()
@given(kinds, st.booleans(), damages, fields)
def test_binary_files(tmp_path_factory, kind, alphas, many, changed):
    whole = marian_files.binary(ITEMS, OPTIONS, kind, alphas)
    content = with_fields(damaged(whole, many), changed)
    with file(tmp_path_factory.getbasetemp(), "m.bin", content) as path:
        found = outcome(path, lambda: read_binary(path))
    if content == whole:
        same(found, ITEMS, 0.05)
        assert yaml.safe_load(found.options) == OPTIONS
    elif found is not None:
        # No more is made of a file than it holds.
        assert sum(tensor.numel() for tensor in found.tensors.values()) <= len(content)


@fuzz()
@given(damages, st.sampled_from([np.savez, np.savez_compressed]))
def test_npz_files(tmp_path_factory, many, save):
    stream = io.BytesIO()
    text = np.frombuffer(yaml.safe_dump(OPTIONS).encode() + b"\0", dtype=np.int8)
    arrays = {name: tensor.numpy() for name, tensor in ITEMS.items()}
    save(stream, **arrays, **{"special:model.yml": text})
    whole = stream.getvalue()
    content = damaged(whole, many)
    with file(tmp_path_factory.getbasetemp(), "m.npz", content) as path:
        found = outcome(path, lambda: read_npz(path))
    if content == whole and save is np.savez:
        same(found, ITEMS, 0)
    elif found is not None:
        assert save is np.savez
        assert sum(tensor.numel() for tensor in found.tensors.values()) <= len(content)


@fuzz()
@given(st.data(), damages, fields)
def test_shortlists(tmp_path_factory, data, many, changed):
    piece = st.integers(0, 9)
    sets = data.draw(st.lists(st.lists(piece, max_size=4), min_size=10, max_size=10))
    whole = marian_files.shortlist(3, sets)
    content = with_fields(damaged(whole, many), changed)
    with file(tmp_path_factory.getbasetemp(), "lex.bin", content) as path:
        found = outcome(path, lambda: read_shortlist(path, 10, 10))
    if found is not None:
        for source in range(4, 12):
            allowed = found.allowed([source]).tolist()
            assert {1, 3} <= set(allowed) <= set(range(12))
            assert len(set(allowed)) == len(allowed)


@fuzz()
@given(damages)
@example([("flip", 11462, 7), ("double", 0, 233)])  # the library's message quotes the damaged bytes
def test_vocabularies(tmp_path_factory, many):
    whole = marian_files.spm_model([f"▁{number}" for number in range(4, 24)])
    content = damaged(whole, many)
    with file(tmp_path_factory.getbasetemp(), "v.spm", content) as path:
        found = outcome(path, lambda: marian.vocabulary(path, 22))
    if content == whole:
        assert found.pieces(range(24)) == [*SYMBOLS, *(f"▁{number}" for number in range(4, 24))]
    elif found is not None:
        assert len(found) == 24


def plain(content):
    return {name: content.scaled(name, weight) for name, weight in content.weights().items()}


@fuzz()
@given(st.sampled_from(["float32", "int8"]), damages)
def test_files_of_ctranslate2(tmp_path_factory, kind, many):
    made = ctranslate2_files.variables(OPTIONS_OF_ATTENTION, parameters(OPTIONS_OF_ATTENTION), kind)
    aliases = ctranslate2_files.aliased(made)
    whole = ctranslate2_files.binary(made, aliases)
    content = damaged(whole, many)
    with file(tmp_path_factory.getbasetemp(), "model.bin", content) as path:
        found = outcome(path, lambda: plain(ctranslate2_file.read(path)))
    if content == whole:
        assert found.keys() >= {name for name in made if name.endswith("weight")} | aliases.keys()
    elif found is not None:
        assert sum(tensor.numel() for tensor in found.values()) <= 2 * len(content)


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizers")
    return [make(folder).path.read_bytes() for make in (metaspace, byte_level)]


@fuzz()
@given(st.integers(0, 1), damages)
def test_tokenizers(tmp_path_factory, tokenizers, which, many):
    whole = tokenizers[which]
    content = damaged(whole, many)
    with file(tmp_path_factory.getbasetemp(), "tokenizer.json", content) as path:
        found = outcome(path, lambda: SubwordModel(path))
        if found is not None:
            pieces = outcome(path, lambda: found.pieces("The old cat's <s> café"))
            assert pieces is None or set(pieces) <= found.ids().keys()
    if content == whole:
        assert found.text(pieces) == "The old cat's <s> café"


values = st.one_of(
    *(st.none(), st.booleans(), st.integers(-3, 2**70), st.floats(), st.text(max_size=5)),
    st.sampled_from(["", "n", "dan", "da", "ssru", "rnn", "relu", 8, 16, [], [22, 22], [22], {}]),
)


@fuzz()
@given(st.dictionaries(st.sampled_from([*OPTIONS, "ulr", "x"]), values, max_size=4), damages)
def test_options(tmp_path_factory, changes, many):
    text = damaged(yaml.safe_dump(OPTIONS | changes).encode(), many).decode("utf-8", "replace")
    path = tmp_path_factory.getbasetemp() / "model.bin"
    found = outcome(path, lambda: marian_options.parse(path, text))
    if found is not None:
        options, reasons = found
        assert (options is None) == bool(reasons)
        if options is not None:
            assert options.size % options.heads == 0 < options.size
            assert options.encoder_layers * options.decoder_layers * options.max_length > 0


@fuzz(0.5)
@given(st.sampled_from(["config.json", "vocab.json", "model.safetensors"]), damages, st.data())
def test_folders_of_hugging_face(tmp_path_factory, name, many, data):
    import safetensors.torch

    folder = tmp_path_factory.getbasetemp() / "hugging_face"
    folder.mkdir(exist_ok=True)
    config = {
        **dict.fromkeys((f"{side}_layers" for side in ("encoder", "decoder")), 1),
        **dict.fromkeys((f"{side}_attention_heads" for side in ("encoder", "decoder")), 2),
        **dict.fromkeys((f"{side}_ffn_dim" for side in ("encoder", "decoder")), 4),
        **{"d_model": 4, "vocab_size": 6, "max_position_embeddings": 9, "model_type": "marian"},
        **{"activation_function": "swish", "pad_token_id": 5, "decoder_start_token_id": 5},
    }
    if name == "config.json":
        config |= data.draw(st.dictionaries(st.sampled_from([*config, "x"]), values, max_size=2))
    pieces = {"</s>": 0, "<unk>": 1, "▁a": 2, "▁b": 3, "▁c": 4, "<pad>": 5}
    contents = {
        "config.json": json.dumps(config).encode(),
        "vocab.json": json.dumps(pieces).encode(),
        "model.safetensors": safetensors.torch.save({"final_logits_bias": torch.zeros(1, 6)}),
        "source.spm": b"",
        "target.spm": b"",
    }
    contents[name] = damaged(contents[name], many)
    for each, content in contents.items():
        (folder / each).write_bytes(content)
    told = inspect(folder)
    # The folder lacks most weights: every case is refused, by a file's name or a key's.
    assert told["refused"]
    assert all(any(each in why for each in (*contents, *config)) for why in told["refused"])
