"""Folders of Hugging Face's MarianMTModel: logits, greedy and beam search as in that class."""

import itertools
import json
import re
from pathlib import Path

import pytest
import torch
import transformers
from torch import Tensor

from tests.unit.nmt.families import SHAPE
from tests.unit.nmt.marian_files import spm_model
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.pieces import raw_coders
from workflow_scripts.nmt.sampling import SampleRequest, sample
from workflow_scripts.nmt.score_pairs import main as score_main
from workflow_scripts.nmt.translate import main as translate_main
from workflow_scripts.nmt.vocabulary import EOS, SYMBOLS, UNK

# Its import alone takes seconds.
pytestmark = pytest.mark.slow

SIZES = SHAPE | {
    "activation_function": "swish",
    "scale_embedding": True,
    "pad_token_id": 23,
    "eos_token_id": 0,
    "decoder_start_token_id": 23,
    "forced_eos_token_id": 0,
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
SOURCES = [[5, 9, 7], [6], [18, 4, 4, 5, 8, 11]]
TARGETS = [[4, 8, 15, 6], [9], [7, 7, 7, 10, 12, 5, 6]]


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


def expected_logits(model: Model, other, source: list[int], target: list[int]) -> Tensor:
    """Return the library's logits for each target piece and </s>, columns in the core's order."""
    start = other.config.decoder_start_token_id
    logits = other(
        input_ids=torch.tensor([[*theirs(model, source), 0]]),
        decoder_input_ids=torch.tensor([[start, *theirs(model, target)]]),
    ).logits[0]
    words = model.target_vocab.pieces(range(len(SYMBOLS), len(model.target_vocab)))
    columns = [start, 1, start, 0, *(int(piece[1:]) - 2 for piece in words)]
    logits = logits[:, columns]
    logits[:, 2] = -torch.inf
    return logits


@pytest.mark.parametrize("safe", [True, False])
@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
@torch.inference_mode()
def test_logits(tmp_path: Path, changes: dict, safe: bool):
    other = made(tmp_path / "model", changes, safe=safe)
    model = load_model(tmp_path / "model", "cpu")
    for source, target in zip(SOURCES, TARGETS, strict=True):
        hidden = model.decode([target], model.remember(*model.encode([source])))
        found = model.network.output(hidden)[:, : len(model.target_vocab)]
        assert torch.allclose(found, expected_logits(model, other, source, target), atol=1e-5)


def generated(model: Model, other, source: list[int], beams: int) -> list[list[int]]:
    """Return what the library generates, in the core's ids; <unk> is ruled out as in the core."""
    ids = torch.tensor([[*theirs(model, source), 0]])
    outputs = other.generate(
        input_ids=ids,
        num_beams=beams,
        num_return_sequences=beams,
        do_sample=False,
        max_new_tokens=model.max_output_length(len(source)),
        bad_words_ids=[[other.config.pad_token_id], [1]],
    )
    return [
        [token + 2 for token in output if token > 1 and token != other.config.pad_token_id]
        for output in outputs.tolist()
    ]


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("end_bias", [0.0, 2.0])
def test_greedy_search(tmp_path: Path, changes: dict, end_bias: float):
    other = made(tmp_path / "model", changes, end_bias)
    model = load_model(tmp_path / "model", "cpu")
    found = translate(model, [BeamRequest(source) for source in SOURCES], beam_size=1)
    expected = [generated(model, other, source, 1) for source in SOURCES]
    assert [result.outputs for result in found] == expected


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_beam_search(tmp_path: Path, changes: dict):
    # Outputs end at their longest only: the two searches treat ended hypotheses differently.
    other = made(tmp_path / "model", changes, end_bias=-60.0)
    model = load_model(tmp_path / "model", "cpu")
    requests = [BeamRequest(source) for source in SOURCES]
    found = translate(model, requests, beam_size=4, nbest=4)
    for source, result in zip(SOURCES, found, strict=True):
        # The library does not count the probability of the </s> that it forces.
        assert sorted(result.outputs) == sorted(generated(model, other, source, 4))


def test_texts_have_their_own_pieces(tmp_path: Path):
    made(tmp_path / "model")
    model = load_model(tmp_path / "model", "cpu")
    source, target = raw_coders(model)
    ids = source.encode("5 17 xy")
    assert model.source_vocab.pieces(ids) == ["▁5", "▁17", "<unk>"]
    assert target.encode_phrase("<s> 6 4") == (2, *target.encode("6 4"))
    assert target.decode(target.encode("6 4 8")) == "6 4 8"


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
    with pytest.raises(InputError, match=re.escape(message)):
        load_model(folder, "cpu")


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
    path = tmp_path / "model" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(InputError, match=re.escape(shown)) as raised:
        load_model(path.parent, "cpu")
    assert "config.json: not supported: " in str(raised.value) or "vocab.json" in str(raised.value)


def test_positions_are_bounded(tmp_path: Path):
    made(tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    changes = {"max_position_embeddings": 2**50}
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    assert load_model(path.parent, "cpu").max_source_pieces == 4999


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
    with pytest.raises(InputError, match=re.escape(message)) as raised:
        load_model(tmp_path / "model", "cpu")
    assert name in str(raised.value)


def test_a_vocabulary_without_an_unknown_piece_is_refused(tmp_path: Path):
    made(tmp_path / "model")
    path = tmp_path / "model" / "vocab.json"
    path.write_text(path.read_text().replace("<unk>", "<none>"))
    with pytest.raises(InputError, match=r"vocab\.json: no <unk>"):
        load_model(tmp_path / "model", "cpu")


def changed(folder: Path, edit) -> None:
    tensors = torch.load(folder / "pytorch_model.bin", weights_only=True)
    edit(tensors)
    torch.save(tensors, folder / "pytorch_model.bin")


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
    ],
)
def test_tensors_that_do_not_fit_are_named(tmp_path: Path, edit, message: str):
    made(tmp_path / "model", safe=False)
    changed(tmp_path / "model", edit)
    with pytest.raises(InputError, match=re.escape(message)) as raised:
        load_model(tmp_path / "model", "cpu")
    assert "pytorch_model.bin" in str(raised.value)


def test_objects_in_a_checkpoint_are_not_built(tmp_path: Path):
    made(tmp_path / "model", safe=False)
    torch.save({"a": Path("x")}, tmp_path / "model" / "pytorch_model.bin")
    with pytest.raises(InputError, match="cannot read the parameters"):
        load_model(tmp_path / "model", "cpu")


def test_half_precision_files(tmp_path: Path):
    made(tmp_path / "model", safe=False)
    tokens = torch.arange(8)[None]
    # A model uses the file as long as it lives.
    before = load_model(tmp_path / "model", "cpu").network.source.whole(tokens)
    changed(
        tmp_path / "model",
        lambda tensors: tensors.update({k: v.half() for k, v in tensors.items()}),
    )
    after = load_model(tmp_path / "model", "cpu").network.source.whole(tokens)
    assert after.dtype == torch.float32
    assert torch.allclose(after, before, atol=1e-2)


def test_samples_and_constraints(tmp_path: Path):
    made(tmp_path / "model", end_bias=1.0)
    model = load_model(tmp_path / "model", "cpu")
    (drawn,) = sample(model, [SampleRequest("1", 0, [5, 6], [(7,)])], k=10, samples=20, seed=1)
    assert drawn.outputs
    assert not any(7 in output for output in drawn.outputs)
    (found,) = translate(model, [BeamRequest([5, 6], [(8, 9)], [(7,)])], beam_size=4)
    (output,) = found.outputs
    assert (8, 9) in itertools.pairwise(output)
    assert all(piece > EOS for piece in output)


def test_the_commands_take_plain_text(tmp_path: Path, capsys: pytest.CaptureFixture):
    folder = tmp_path / "model"
    made(folder)
    lines = "".join(json.dumps({"text": f"{first} 7 9"}) + "\n" for first in range(4, 16))
    (tmp_path / "in.jsonl").write_text(lines)
    options = ["--raw", "--device", "cpu", "--model", str(folder), "--sample", "20"]
    files = {"--input": tmp_path / "in.jsonl", "--output": tmp_path / "out.jsonl", "--samples": 30}
    translate_main([*options, *(str(word) for pair in files.items() for word in pair)])
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    # What the text models do not know can't be written again.
    known = set(map(str, range(4, 18)))
    pairs = [
        (line["text"], text, nll)
        for line in found
        for text, nll in zip(line["translations"], line["scores"], strict=True)
        if text and set(text.split()) <= known
    ]
    assert len(pairs) > 5
    for side, texts in zip(("source", "target"), list(zip(*pairs, strict=True))[:2], strict=True):
        (tmp_path / side).write_text("".join(f"{text}\n" for text in texts))
    capsys.readouterr()
    sides = ["--source", str(tmp_path / "source"), "--target", str(tmp_path / "target")]
    score_main([*options[:-2], *sides])
    nlls = [float(line) for line in capsys.readouterr().out.split()]
    assert nlls == pytest.approx([nll for *_, nll in pairs], abs=1e-5)
