"""Folders of Hugging Face's MarianMTModel: their files, texts and tags, and what is refused.

That its numbers are those of that class is tested with the other families.
"""

import json
from pathlib import Path

import pytest
import torch
import transformers

from tests.unit.nmt.conftest import refused
from tests.unit.nmt.families import SHAPE, edited
from tests.unit.nmt.marian_files import spm_model
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.pieces import raw_coders
from workflow_scripts.nmt.scoring import score
from workflow_scripts.nmt.vocabulary import UNK

# Its import alone takes seconds.
pytestmark = pytest.mark.slow

SIZES = SHAPE | {
    **{"activation_function": "swish", "scale_embedding": True, "pad_token_id": 23},
    **{"eos_token_id": 0, "decoder_start_token_id": 23, "forced_eos_token_id": 0},
}
SEPARATE = {
    "share_encoder_decoder_embeddings": False,
    "decoder_vocab_size": 20,
    "pad_token_id": 19,
    "decoder_start_token_id": 19,
}
CHANGES = {
    "as OPUS-MT": {},
    "ReLU, not scaled": {"activation_function": "relu", "scale_embedding": False},
    "separate": SEPARATE,
    "untied": {"tie_word_embeddings": False},
    "separate, untied": SEPARATE | {"tie_word_embeddings": False},
}


def made(folder: Path, changes: dict | None = None, end_bias: float = 0.0, safe: bool = True):
    """Write a folder of random weights; return the model of the library."""
    torch.manual_seed(5)
    config = transformers.MarianConfig(**SIZES | (changes or {}))
    model = transformers.MarianMTModel(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "embed_positions" not in name:
                scale = SIZES["d_model"] ** -0.5 if parameter.dim() > 1 else 0.1
                parameter.normal_(float("norm.weight" in name), scale)
        model.final_logits_bias.normal_(0, 0.1)
        model.final_logits_bias[0, 0] += end_bias
    folder.mkdir()
    if safe:
        model.save_pretrained(folder)
    else:
        # With all copies of embeddings and positions, as the files of early versions.
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
        config.save_pretrained(folder)
    sizes = [config.vocab_size, config.decoder_vocab_size]
    names = ["vocab.json", "target_vocab.json"]
    for name, size in list(zip(names, sizes, strict=True))[: len(set(sizes))]:
        write_pieces(folder / name, size, config.pad_token_id)
    # The words 4 to 17 are known to the text models, behind an <unk> and symbols in another order.
    for name in ("source.spm", "target.spm"):
        pieces = [f"▁{number}" for number in range(17, 3, -1)]
        (folder / name).write_bytes(spm_model(pieces, ("<unk>", "<s>", "</s>")))
    return model


def write_pieces(path: Path, size: int, pad: int, **changes: int) -> None:
    names = {0: "</s>", 1: "<unk>", pad: "<pad>"}
    ids = {names.get(index, f"▁{index + 2}"): index for index in range(size)}
    path.write_text(json.dumps(ids | changes, ensure_ascii=False), encoding="utf-8")


def theirs(model: Model, ids: list[int]) -> list[int]:
    """Return the library's ids of the core's: words are numbered alike, but for the shift."""
    return [int(piece[1:]) - 2 for piece in model.source_vocab.pieces(ids)]


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_copies_in_the_files_of_early_versions_are_one(tmp_path: Path, changes: dict):
    for name, safe in (("early", False), ("late", True)):
        made(tmp_path / name, changes, safe=safe)
    models = [load_model(tmp_path / name, "cpu") for name in ("early", "late")]
    early, late = (list(score(model, [([5, 9, 7], [4, 8, 15, 6])])) for model in models)
    assert early == pytest.approx(late, abs=1e-6)


@pytest.mark.parametrize("changes", [{}, SEPARATE])
def test_texts_are_those_of_the_tokenizer(tmp_path: Path, changes: dict):
    made(tmp_path / "model", changes)
    separate = {"separate_vocabs": True} if changes else {}
    tokenizer = transformers.MarianTokenizer.from_pretrained(tmp_path / "model", **separate)
    model = load_model(tmp_path / "model", "cpu")
    source, target = raw_coders(model)
    for text in ("5 17 6", "4 xy 7", "15"):
        known = [token for token in source.encode(text) if token != UNK]
        expected = tokenizer(text).input_ids
        assert [*theirs(model, known), 0] == [token for token in expected if token != 1]
        assert source.encode(text).count(UNK) == expected.count(1)
        written = tokenizer(text_target=text).input_ids
        assert len(written) == len(target.encode(text)) + 1
        assert tokenizer.decode([token - 2 for token in target.encode("4 9")]) == "4 9"


def with_tag(folder: Path, settings: object) -> Path:
    made(folder)
    path = folder / "vocab.json"
    ids = json.loads(path.read_text())
    del ids["▁20"]
    path.write_text(json.dumps(ids | {">>por<<": 18}))
    if settings is not ...:
        (folder / "paraloom.json").write_text(json.dumps(settings))
    return folder


def test_the_tag_stands_first_in_every_source(tmp_path: Path):
    tagged = load_model(with_tag(tmp_path / "tagged", {"tag": ">>por<<"}), "cpu")
    plain = load_model(with_tag(tmp_path / "plain", {"tag": None}), "cpu")
    pieces = ["▁5", "▁9"]
    assert tagged.source_ids(pieces) == plain.source_ids([">>por<<", *pieces])
    assert tagged.source_ids([]) == plain.source_ids([]) == []
    assert plain.source_ids(pieces) == plain.source_vocab.ids(pieces)
    source, target = raw_coders(tagged)
    assert source.encode("5 9") == tagged.source_ids(pieces)
    assert target.encode("5 9") == tagged.target_vocab.ids(pieces)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (..., "translates into several languages (>>por<<): write the file paraloom.json"),
        ({"tag": ">>spa<<"}, "no source piece '>>spa<<'; it has >>por<<"),
        ({"tag": 3}, "no source piece 3"),
        ({"tags": []}, 'must be an object with the key "tag" and no other'),
        ([], 'must be an object with the key "tag"'),
    ],
)
def test_tags_that_are_not_chosen_well(tmp_path: Path, settings: object, message: str):
    folder = with_tag(tmp_path / "model", settings)
    refused(folder, message)


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("model_type", "bart", "model_type is 'bart', supported is 'marian'"),
        ("activation_function", "gelu", "activation_function is 'gelu', supported is 'swish' or"),
        ("normalize_before", True, "normalize_before is True, supported is False"),
        ("normalize_embedding", True, "normalize_embedding is True"),
        ("add_final_layer_norm", True, "add_final_layer_norm is True"),
        ("add_bias_logits", True, "add_bias_logits is True"),
        ("static_position_embeddings", False, "static_position_embeddings is False"),
        ("decoder_start_token_id", 3, "decoder_start_token_id is 3, supported is 23"),
        ("d_model", None, "d_model is missing"),
        ("vocab_size", 2**50, "must have 1125899906842624 pieces"),
        ("d_model", "x", "d_model is 'x'; it must be a whole number of at least 1"),
        ("d_model", 10, "decoder_attention_heads is 4, which must divide d_model, 10"),
        ("encoder_layers", True, "encoder_layers is True; it must be a whole number"),
        ("eos_token_id", [0], "eos_token_id is [0]; it must be the id of a piece"),
    ],
)
def test_other_options_are_refused_by_name(tmp_path: Path, key: str, value: object, shown: str):
    made(tmp_path / "model")
    edited(tmp_path / "model" / "config.json", {key: value})
    told = refused(tmp_path / "model", shown)
    assert "config.json: not supported: " in told or "vocab.json" in told


def test_positions_are_bounded(tmp_path: Path):
    made(tmp_path / "model")
    edited(tmp_path / "model" / "config.json", {"max_position_embeddings": 2**50})
    assert load_model(tmp_path / "model", "cpu").max_source_pieces == 4999


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("config.json", b"{", "cannot be read as JSON"),
        ("config.json", b"[" * 99_999, "cannot be read as JSON"),
        ("config.json", b"[]", "must be a JSON object"),
        ("vocab.json", b"{}", "must have 24 pieces with the ids 0 to 23"),
        ("vocab.json", b'{"a": "0"}', "must have 24 pieces"),
        ("model.safetensors", b"", "cannot read the parameters"),
        ("model.safetensors", b"\xff" * 99, "cannot read the parameters"),
        ("paraloom.json", b"\xff", "cannot be read as JSON"),
    ],
)
def test_files_that_cannot_be_read_are_named(tmp_path: Path, name, content, message):
    made(tmp_path / "model")
    (tmp_path / "model" / name).write_bytes(content)
    assert name in refused(tmp_path / "model", message)


def test_a_vocabulary_without_an_unknown_piece_is_refused(tmp_path: Path):
    made(tmp_path / "model")
    path = tmp_path / "model" / "vocab.json"
    path.write_text(path.read_text().replace("<unk>", "<none>"))
    with pytest.raises(InputError, match=r"vocab\.json: no <unk>"):
        load_model(tmp_path / "model", "cpu")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            lambda tensors: tensors.update({"lm_head.weight": torch.zeros(24, 16)}),
            "lm_head.weight differs from model.shared.weight, which the config ties",
        ),
        (
            lambda tensors: tensors["model.encoder.embed_positions.weight"].add_(0.1),
            "model.encoder.embed_positions.weight holds other positions",
        ),
        (
            lambda tensors: tensors["model.decoder.layers.0.fc1.bias"].fill_(torch.nan),
            "'model.decoder.layers.0.fc1.bias' holds NaN",
        ),
        (lambda tensors: tensors.pop("final_logits_bias"), "no parameter 'final_logits_bias'"),
        (lambda tensors: tensors.update(more=torch.zeros(1)), "not supported: more"),
        (lambda tensors: tensors.update(more="text"), "it holds no table of tensors"),
        # Objects are not built.
        (lambda tensors: tensors.update(more=Path("x")), "cannot read the parameters"),
    ],
)
def test_tensors_that_do_not_fit_are_named(tmp_path: Path, edit, message: str):
    made(tmp_path / "model", safe=False)
    path = tmp_path / "model" / "pytorch_model.bin"
    tensors = torch.load(path, weights_only=True)
    edit(tensors)
    torch.save(tensors, path)
    assert path.name in refused(path.parent, message)
