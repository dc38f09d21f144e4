"""Marian's models: every layout, type and option gives the network as it is written plainly."""

import struct
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.unit.nmt import marian_files
from tests.unit.nmt.conftest import refused
from tests.unit.nmt.marian_files import (
    FLOAT16,
    FLOAT32,
    INTGEMM8,
    OPTIONS,
    PRE_NORM,
    SELF_ATTENTION,
    SEPARATE,
    log_probabilities,
    parameters,
    spm_model,
    write_binary,
    write_npz,
)
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.decoder import Decoder
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.scoring import score
from workflow_scripts.nmt.vocabulary import BOS

CHANGES = {
    "ssru": {},
    "self-attention": SELF_ATTENTION,
    "ssru, pre-norm": PRE_NORM,
    "self-attention, pre-norm": SELF_ATTENTION | PRE_NORM,
    "swish": {"transformer-ffn-activation": "swish"},
    "nothing tied": SEPARATE | {"dim-vocabs": [30, 22]},
    "output tied": SEPARATE | {"tied-embeddings": True, "dim-vocabs": [30, 22]},
    "sources tied": SEPARATE | {"tied-embeddings-src": True},
    "deep": {"enc-depth": 3, "dec-depth": 2, "transformer-heads": 4},
}
PAIRS = [([5, 9, 7], [4, 8, 21, 6]), ([6], [9]), ([20, 4, 4, 5, 8, 11], [7, 7, 7, 10, 12, 5, 6])]


def marians(ids: list[int]) -> list[int]:
    """Return Marian's ids of the core's."""
    return [index - 2 for index in ids]


def expected_nll(items, options, source, target) -> float:
    found = log_probabilities(items, options, marians(source), marians(target))
    wanted = [*marians(target), 0]
    return -float(found[range(len(wanted)), wanted].double().mean())


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("write", [write_binary, write_npz])
def test_the_network_is_that_of_its_options(tmp_path: Path, write, changes):
    options = OPTIONS | changes
    model = load_model(write(tmp_path / "model", changes, seed=3), "cpu")
    items = parameters(options, seed=3)
    expected = [expected_nll(items, options, *pair) for pair in PAIRS]
    assert list(score(model, PAIRS)) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("changes", [{}, SELF_ATTENTION | SEPARATE])
@pytest.mark.parametrize(
    ("kind", "alphas", "error"),
    [(FLOAT16, False, 1e-3), (INTGEMM8, False, 1e-2), (INTGEMM8, True, 1e-2)],
)  # fmt: skip
def test_smaller_types(tmp_path: Path, changes, kind: int, alphas: bool, error: float):
    options = OPTIONS | changes
    folder = write_binary(tmp_path / "model", changes, kind=kind, alphas=alphas)
    items = {}
    for name, tensor in parameters(options).items():
        if kind == FLOAT16:
            items[name] = tensor.half().float()
        elif tensor.shape[0] > 1:
            scale = float(np.float32(127 / tensor.abs().max().item()))
            items[name] = (tensor * scale).round() / scale
        else:
            items[name] = tensor
        assert torch.allclose(items[name], tensor, atol=error)
    expected = [expected_nll(items, options, *pair) for pair in PAIRS]
    assert list(score(load_model(folder, "cpu"), PAIRS)) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_forced_decoding_equals_steps(tmp_path: Path, changes):
    model = load_model(write_binary(tmp_path / "model", changes), "cpu")
    for source, target in PAIRS:
        expected = model.decode([target], model.remember(*model.encode([source])))
        decoder = Decoder(model, capacity=1)
        decoder.start(torch.tensor(decoder.places([source])))
        found = [decoder.step(torch.tensor([token])) for token in (BOS, *target)]
        assert torch.allclose(torch.cat(found), expected, atol=1e-5)


def test_in_bf16_cells_keep_their_precision(tmp_path: Path):
    folder = write_binary(tmp_path / "model")
    full, half = (load_model(folder, "cpu", precision) for precision in ("fp32", "bf16"))
    pairs = [([5, 6, 7], [4 + index % 18 for index in range(38)])]
    assert list(score(half, pairs)) == pytest.approx(list(score(full, pairs)), abs=0.05)


def test_ids_and_limits(tmp_path: Path):
    model = load_model(write_binary(tmp_path / "model", SEPARATE | {"dim-vocabs": [30, 22]}), "cpu")
    assert model.source_vocab.pieces([0, 1, 2, 3, 4, 31]) == [
        "<pad>",
        "<unk>",
        "<s>",
        "</s>",
        "▁4",
        "▁31",
    ]
    assert len(model.target_vocab) == 24
    assert (model.max_source_pieces, model.max_target_pieces) == (39, 39)
    assert model.max_output_length(4) == 15
    assert model.source_spm.name == "srcvocab.xxyy.spm"
    assert model.target_spm.name == "trgvocab.xxyy.spm"


def test_rows_that_fill_an_embedding_up_count_but_are_not_generated(tmp_path: Path):
    folder = write_binary(tmp_path / "model")
    pieces = [f"▁{number}" for number in range(4, 20)]
    (folder / "vocab.xxyy.spm").write_bytes(spm_model(pieces))
    model = load_model(folder, "cpu")
    assert (len(model.target_vocab), model.target_vocab.words) == (24, 20)
    pairs = [([5, 9, 7], [4, 8, 6])]
    expected = [expected_nll(parameters(OPTIONS), OPTIONS, *pair) for pair in pairs]
    assert list(score(model, pairs)) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("type", "s2s", "type is 's2s', supported is 'transformer'"),
        ("transformer-decoder-autoreg", "average-attention", "autoreg is 'average-attention'"),
        ("dec-cell", "gru", "dec-cell is 'gru', supported is 'ssru'"),
        ("transformer-ffn-activation", "gelu", "activation is 'gelu', supported is 'swish'"),
        ("transformer-ffn-depth", 3, "transformer-ffn-depth is 3, supported is 2"),
        ("transformer-no-projection", True, "transformer-no-projection is True"),
        ("transformer-tied-layers", [1, 1], "transformer-tied-layers is [1, 1]"),
        ("transformer-train-positions", True, "transformer-train-positions is True"),
        ("transformer-train-position-embeddings", True, "position-embeddings is True"),
        ("transformer-postprocess", "dah", "transformer-postprocess 'dah'"),
        ("transformer-preprocess", "n", "supported is post-norm"),
        ("transformer-postprocess-emb", "dn", "transformer-postprocess-emb is 'dn'"),
        ("layer-normalization", True, "layer-normalization is True"),
        ("ulr", True, "ulr is True"),
        ("lemma-dim-emb", 64, "lemma-dim-emb is 64"),
        ("output-omit-bias", True, "output-omit-bias is True"),
        ("right-left", True, "right-left is True"),
        ("dim-vocabs", [22, 22, 22], "dim-vocabs is [22, 22, 22], supported are two"),
        ("dim-vocabs", [2**40, 2**40], "the config asks for floating-point [1099511627776, 16]"),
        ("dim-vocabs", [2**40, 22], "dim-vocabs is [1099511627776, 22]; both sides have one"),
        ("dim-vocabs", [22, "x"], "dim-vocabs is 'x'; it must be a whole number"),
        ("dim-emb", 15, "dim-emb is 15; it must be even, and transformer-heads, 2, divide it"),
        ("enc-depth", 0, "enc-depth is 0; it must be a whole number"),
        ("transformer-heads", True, "transformer-heads is True; it must be a whole number"),
    ],
)  # fmt: skip
def test_other_options_are_refused_by_name(tmp_path: Path, key: str, value: object, shown: str):
    folder = write_binary(tmp_path / "model")
    content = marian_files.binary(parameters(OPTIONS), OPTIONS | {key: value}, FLOAT32, False)
    (folder / "model.xxyy.bin").write_bytes(content)
    assert "model.xxyy.bin" in refused(folder, shown)


@pytest.mark.parametrize("version", ["v1.9.56 94aeaa46", "v1.11.5", None])
def test_pre_norm_of_early_versions_is_refused(tmp_path: Path, version: str | None):
    folder = write_binary(tmp_path / "model", PRE_NORM | {"version": version})
    with pytest.raises(InputError, match=r"pre-norm is supported from v1\.12 on"):
        load_model(folder, "cpu")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda items: items.pop("decoder_l1_rnn_bf"), "no parameter 'decoder_l1_rnn_bf'"),
        (lambda items: items.update(Wpos=torch.zeros(9, 16)), "not supported: Wpos"),
        (lambda items: items["Wemb"].fill_(torch.nan), "'Wemb' holds NaN"),
        (
            lambda items: items.update(Wemb=torch.zeros(23, 16)),
            "'Wemb' is torch.float32 [23, 16], the config asks for floating-point [22, 16]",
        ),
    ],
)
def test_items_that_do_not_fit_are_named(tmp_path: Path, edit, message: str):
    folder, items = write_binary(tmp_path / "model"), parameters(OPTIONS)
    edit(items)
    (folder / "model.xxyy.bin").write_bytes(marian_files.binary(items, OPTIONS, FLOAT32, False))
    refused(folder, message)


@pytest.mark.parametrize(
    ("place", "packed", "message"),
    [
        (0, struct.pack("<Q", 2), "byte 0: version 2, supported is 1"),
        (8, struct.pack("<Q", 2**60), "the header of item"),
        (16, struct.pack("<Q", 2**62), "the name of item 0 needs 4611686018427387904 bytes"),
        (16, struct.pack("<Q", 5), "the name of item 0 is b'decod'"),
        (24, struct.pack("<Q", 0x0801), "is of type packed (0x0801); supported are float32"),
        (24, struct.pack("<Q", 0x4102), "is of type intgemm16 (0x4102)"),
        (24, struct.pack("<Q", 0x4102), "parameter 'decoder_ff_logit_out_b'"),
        (32, struct.pack("<Q", 2**40), "has 1099511627776 dimensions"),
        (40, struct.pack("<Q", 2**50), "the data of 'decoder_ff_logit_out_b' needs"),
        (40, struct.pack("<Q", 4), "of shape [1, 22] needs 88 bytes, it has 4"),
        # Nothing: the file ends there.
        (-1, b"", "needs"),
        (9, b"", "the beginning needs 16 bytes, 9"),
        (10**6, b"more", ": 4 bytes follow the last item"),
    ],
)
def test_damage_is_named_by_its_place(tmp_path: Path, place: int, packed: bytes, message: str):
    path = write_binary(tmp_path / "model") / "model.xxyy.bin"
    content = path.read_bytes()
    after = content[place + len(packed) :] if packed else b""
    path.write_bytes(content[:place] + packed + after)
    assert str(path) in refused(path.parent, message)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"Wemb": np.zeros((2, 2), dtype=np.float64)}, "'Wemb' is of type float64"),
        ({"Wemb": np.asfortranarray(np.ones((3, 2), dtype=np.float32))}, "in C's order"),
        ({"Wemb": np.zeros((2, 2), dtype=np.float32)}, "no special:model.yml"),
        ({"special:model.yml": np.array([91] * 5000, dtype=np.int8)}, "the options: can't be read"),
        ({"special:model.yml": np.array([97], dtype=np.int8)}, "the options are no mapping"),
        ({"special:model.yml": np.array([-1], dtype=np.int8)}, "the options are no UTF-8"),
        ({"special:model.yml": np.zeros(10**6 + 1, dtype=np.int8)}, "more than 1,000,000"),
    ],
)
def test_npz_files_that_are_none(tmp_path: Path, arrays, message: str):
    folder = write_npz(tmp_path / "model")
    np.savez(folder / "model.npz", **arrays)
    assert "model.npz" in refused(folder, message)


def test_npz_files_that_are_packed_or_damaged(tmp_path: Path):
    folder = write_npz(tmp_path / "model")
    path = folder / "model.npz"
    whole = path.read_bytes()
    np.savez_compressed(path, Wemb=np.zeros((1000, 1000), dtype=np.float32))
    refused(folder, "'Wemb' is compressed")
    for damaged in (whole[:-30], whole[:500] + b"x" + whole[501:], b""):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"model\.npz"):
            load_model(folder, "cpu")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no model", "cannot read the SentencePiece model"),
        (spm_model(["▁4"], ("<unk>", "<s>", "</s>")), "<s>, <pad> are 2, 0, 1, -1"),
        (spm_model([f"▁{number}" for number in range(40)]), "42 pieces, the model has 22"),
    ],
)  # fmt: skip
def test_vocabularies_of_other_models(tmp_path: Path, content: bytes, message: str):
    folder = write_binary(tmp_path / "model")
    (folder / "vocab.xxyy.spm").write_bytes(content)
    refused(folder, message)


def test_the_decoders_state_does_not_grow(tmp_path: Path):
    model: Model = load_model(write_binary(tmp_path / "model"), "cpu")
    (layer,) = model.network.decoder
    state = layer.prefix.state(7, model.network.target.pieces)
    before = state._kept.shape
    state.grow(1000)
    assert before == state._kept.shape == (7, 16)
