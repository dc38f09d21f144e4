"""Kinds of model folders, by the names of their files."""

import re
from pathlib import Path

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.model_folder import (
    CTRANSLATE2,
    HUGGING_FACE,
    HUGGING_FACE_MORE,
    MARIAN_BINARY,
    MARIAN_NPZ,
    OF_THE_RUN,
    SOCKEYE,
    model_files,
    sorted_out,
)

_SOCKEYE = ["config", "params.best", "vocab.src.0.json", "vocab.trg.0.json", "version", "log"]
_STUDENT = ["model.enpt.intgemm.alphas.bin", "lex.50.50.enpt.s2t.bin", "modelMeta.json"]
_CT2 = ["model.bin", "config.json", "shared_vocabulary.json"]
_HF = ["config.json", "source.spm", "target.spm", "vocab.json"]
_PARTS = [f"model-0000{number}-of-00002.safetensors" for number in (1, 2)]
_INDEX = "model.safetensors.index.json"
_OTHER_PARTS = ["pytorch_model-00001-of-00001.bin", "pytorch_model.bin.index.json"]


def test_sockeye():
    found = sorted_out(_SOCKEYE, "m")
    assert (found.kind, found.weights) == (SOCKEYE, "params.best")
    assert found.vocabularies == ("vocab.src.0.json", "vocab.trg.0.json")
    assert found.source_spm is found.target_spm is found.shortlist is None
    assert found.names == (
        "config", "params.best", "version", "vocab.src.0.json", "vocab.trg.0.json"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("vocabularies", "source", "target"),
    [
        (["vocab.enpt.spm"], "vocab.enpt.spm", "vocab.enpt.spm"),
        (["trgvocab.enpt.spm", "srcvocab.enpt.spm"], "srcvocab.enpt.spm", "trgvocab.enpt.spm"),
        (["source.spm", "target.spm"], "source.spm", "target.spm"),
        (["vocab.pt.spm", "vocab.en.spm"], "vocab.en.spm", "vocab.pt.spm"),
    ],
)
def test_students(vocabularies, source, target):
    found = sorted_out([*_STUDENT, *vocabularies, "qualityModel.enpt.bin"], "m")
    assert (found.kind, found.weights) == (MARIAN_BINARY, _STUDENT[0])
    assert (found.source_spm, found.target_spm) == (source, target)
    assert found.shortlist == "lex.50.50.enpt.s2t.bin"
    assert found.names == tuple(sorted({*_STUDENT[:2], *vocabularies}))
    assert found.about == ("modelMeta.json",)


def test_a_folder_of_marians_training():
    names = ["model.npz", "model.npz.yml", "model.npz.optimizer.npz", "vocab.spm", "train.log"]
    found = sorted_out(names, "m")
    assert (found.kind, found.weights, found.shortlist) == (MARIAN_NPZ, "model.npz", None)
    assert found.names == ("model.npz", "vocab.spm")


@pytest.mark.parametrize("weights", ["model.safetensors", "pytorch_model.bin"])
def test_hugging_face(weights):
    names = [
        *_HF,
        weights,
        "target_vocab.json",
        "tokenizer_config.json",
        "README.md",
        "tf_model.h5",
    ]
    found = sorted_out(names, "m")
    assert (found.kind, found.weights) == (HUGGING_FACE, weights)
    assert (found.source_spm, found.target_spm) == ("source.spm", "target.spm")
    assert found.vocabularies == ("vocab.json", "target_vocab.json")
    assert found.names == tuple(
        sorted([*_HF, weights, "target_vocab.json", "tokenizer_config.json"])
    )
    assert found.about == ("README.md",)


@pytest.mark.parametrize(
    ("vocabularies", "texts"),
    [
        (("shared_vocabulary.json",), ()),
        (("shared_vocabulary.txt",), ("spiece.model",)),
        (("source_vocabulary.json", "target_vocabulary.json"), ("source.spm", "target.spm")),
    ],
)
def test_ctranslate2(vocabularies, texts):
    found = sorted_out(["model.bin", "config.json", "vmap.txt", *vocabularies, *texts], "m")
    told = (found.kind, found.weights, found.configs)
    assert told == (CTRANSLATE2, "model.bin", ("config.json",))
    assert found.vocabularies == vocabularies
    first, *_, last = (*texts, *texts) or (None, None)
    assert (found.source_spm, found.target_spm) == (first, last)


@pytest.mark.parametrize(
    ("names", "tokenizer"),
    [
        (["sentencepiece.bpe.model", "vocab.json", "tokenizer_config.json"], None),
        (["sentencepiece.bpe.model", "tokenizer.json"], "tokenizer.json"),
        (["spiece.model", "generation_config.json", "paraloom.json"], "spiece.model"),
        (["vocab.json", "merges.txt", "special_tokens_map.json"], "vocab.json"),
        (["vocab.json", "merges.txt", "tokenizer.json", "added_tokens.json"], "tokenizer.json"),
    ],
)
def test_relatives_of_marian_have_another_tokenizer(names, tokenizer):
    names = ["config.json", "model.safetensors", *names]
    found = sorted_out([*names, "tf_model.h5"], "m")
    assert (found.kind, found.names) == (HUGGING_FACE_MORE, tuple(sorted(names)))
    assert found.source_spm == found.target_spm == (tokenizer or "sentencepiece.bpe.model")


def test_of_two_forms_of_the_weights_the_safe_one():
    names = [*_HF, "model.safetensors", "pytorch_model.bin"]
    assert sorted_out(names, "m").weights == "model.safetensors"


@pytest.mark.parametrize("text", [_HF, ["config.json", "tokenizer.json"]])
def test_weights_in_parts(text):
    found = sorted_out([*text, *_PARTS, _INDEX, *_OTHER_PARTS], "m")
    assert (found.weights, found.parts) == (_INDEX, tuple(_PARTS))
    assert found.names == tuple(sorted([*text, *_PARTS, _INDEX]))
    found = sorted_out([*text, *_OTHER_PARTS], "m")
    assert (found.parts, found.weights) == (tuple(_OTHER_PARTS[:1]), _OTHER_PARTS[1])
    # A model that was read before it could have parts is the same model.
    whole = sorted_out([*text, "pytorch_model.bin"], "m")
    assert sorted_out([*text, "pytorch_model.bin", *_PARTS, _INDEX], "m") == whole


@pytest.mark.parametrize(
    "names", [_SOCKEYE, [*_STUDENT, "vocab.spm"], [*_HF, "pytorch_model.bin"], _CT2]
)
def test_what_the_run_adds_is_no_part_of_the_model(names):
    assert sorted_out([*names, *OF_THE_RUN], "m") == sorted_out(names, "m")


@pytest.mark.parametrize("names", [_SOCKEYE, [*_STUDENT, "vocab.spm"], [*_HF, "pytorch_model.bin"]])
def test_the_users_settings_are(names):
    with_settings = sorted_out([*names, "paraloom.json"], "m")
    assert set(with_settings.names) == {*sorted_out(names, "m").names, "paraloom.json"}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "m is no model folder that can be read: Sockeye 3 has config, params.best"),
        (["notes.txt", *OF_THE_RUN], "is no model folder"),
        (["config", "version"], "m is no Sockeye 3 folder: params.best, vocab.src.0.json, vocab"),
        (
            ["config.json"],
            "m has no tokenizer: Hugging Face Marian has source.spm, target.spm and vocab.json, H",
        ),
        (["config.json", "source.spm"], "no Hugging Face Marian folder: target.spm, vocab.json mi"),
        (_HF, "model.safetensors or pytorch_model.bin missing"),
        ([*_HF, _PARTS[1], _INDEX], f"{_PARTS[0]} missing; the weights need all their parts"),
        ([*_HF, *_PARTS], f"{_INDEX} missing; the weights need all their parts"),
        ([*_HF, _OTHER_PARTS[1]], "pytorch_model-00001-of-N.bin missing"),
        (["vocab.json", "pytorch_model.bin"], "m has no tokenizer: "),
        (["merges.txt", "config.json", "pytorch_model.bin"], "vocab.json missing"),
        (["tokenizer.json", "pytorch_model.bin"], "config.json missing"),
        (_STUDENT, "no SentencePiece model (*.spm)"),
        ([*_STUDENT, "vocab.fsv"], "m: vocabularies such as vocab.fsv can't be read"),
        (
            ["model.npz", "opus.spm32k.vocab.yml", "source.spm", "target.spm"],
            "m: vocabularies such as opus.spm32k.vocab.yml can't be read",
        ),
        ([*_STUDENT, "a.spm", "b.spm"], "which of a.spm, b.spm is for the source"),
        ([*_STUDENT, "src.spm", "trg.spm", "vocab.spm"], "which of src.spm, trg.spm, vocab.spm"),
        ([*_STUDENT, "x.bin", "v.spm"], f"several weights: {_STUDENT[0]}, x.bin; leave one"),
        ([*_STUDENT, "lex.bin", "v.spm"], "several shortlists: lex.50.50.enpt.s2t.bin, lex.bin"),
        (
            ["model.npz", "model.npz.best-bleu.npz", "v.spm"],
            "several weights: model.npz, model.npz.best-bleu.npz",
        ),
        (["model.bin", "config.json", "vocabulary.json"], "shared_vocabulary.json missing"),
        ([*_CT2, "a.spm", "b.spm"], "which of a.spm, b.spm is for the source"),
        ([*_CT2, "model.safetensors"], "more than one kind of model (CTranslate2: config.json, m"),
        ([*_SOCKEYE, *_STUDENT], "more than one kind of model (Sockeye 3: config, params.best"),
    ],
)  # fmt: skip
def test_names_that_do_not_tell(names, message):
    with pytest.raises(InputError, match=re.escape(message)):
        sorted_out(names, "m")


def test_of_a_folder(tmp_path: Path):
    for name in (*_STUDENT, "vocab.spm"):
        (tmp_path / name).touch()
    (tmp_path / "other.bin").mkdir()
    assert model_files(tmp_path) == sorted_out([*_STUDENT, "vocab.spm"], "m")
    with pytest.raises(InputError, match="nowhere is no folder: correct the path"):
        model_files(tmp_path / "nowhere")
    with pytest.raises(InputError, match="is no folder: a model is a folder"):
        model_files(tmp_path / "vocab.spm")
