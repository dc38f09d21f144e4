"""Models of the library: logits, losses and searches as in its classes.

All weights are random: none of the published ones are within reach.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
import transformers

from tests.unit.nmt.conftest import refused
from tests.unit.nmt.families import (
    FAIRSEQ,
    KINDS,
    MARIANS,
    SIZES,
    TO_NLLB,
    WORDS,
    Kind,
    class_of,
    core,
    edited,
    forced,
    read,
    rows,
    write,
    write_folder,
)
from tests.unit.nmt.marian_files import spm_model
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.model_folder import model_files
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.loaders import load_model, opened_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.saving import save_model
from workflow_scripts.nmt.scoring import score
from workflow_scripts.nmt.vocabulary import BOS, EOS, SYMBOLS

# Its import alone takes seconds.
pytestmark = pytest.mark.slow

SOURCES = [[5, 9, 7], [6], [17, 4, 4, 5, 8, 11]]
TARGETS = [[4, 8, 15, 6], [9], [7, 7, 7, 10, 13, 5, 6]]
EVERY = KINDS | MARIANS
each = pytest.mark.parametrize("kind", EVERY.values(), ids=EVERY)


def made(folder: Path, kind: Kind, end_bias: float = 0.0):
    """Write a folder of random weights; return the model of the library."""
    torch.manual_seed(5)
    config = getattr(transformers, f"{kind.name}Config")(**SIZES | kind.changes)
    model = class_of(kind)(config).eval()
    end = config.eos_token_id
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if kind.name not in ("Pegasus", "Marian") or "embed_positions" not in name:
                scale = 0.25 if parameter.dim() > 1 else 0.1
                parameter.normal_(float("norm" in name and name.endswith("weight")), scale)
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.normal_(0, 0.1)
            model.final_logits_bias[0, end] += end_bias
        else:
            # A number of the decoder's output that only the logit of </s> depends on.
            model.model.shared.weight[:, 0] = 0
            model.model.shared.weight[end, 0] = 1
            model.model.decoder.layer_norm.bias[0] += end_bias
    write_folder(folder, kind, model)
    return model


def pieces_of(other: Any) -> int:
    """Return how many pieces a model of the library writes."""
    return getattr(other.config, "decoder_vocab_size", other.config.vocab_size)


@each
@torch.inference_mode()
def test_logits_and_losses(tmp_path: Path, kind: Kind):
    other = made(tmp_path / "model", kind)
    model = load_model(tmp_path / "model", "cpu")
    columns, size = rows(model, kind, other.config), pieces_of(other)
    assert set(columns) == set(range(size))
    for words, target in zip(SOURCES, TARGETS, strict=True):
        source, _ = read(model, kind, words)
        answer = forced(other, kind, [words], [target], loss=True)
        expected = answer.logits[0, len(kind.prompt) - 1 :].log_softmax(1)[:, columns]
        if len(columns) > size:
            expected[:, BOS] = -torch.inf
        hidden = model.decode([core(model, target)], model.remember(*model.encode([source])))
        found = model.network.output(hidden)[:, : len(columns)].log_softmax(1)
        assert torch.allclose(found, expected, atol=1e-5)
        [nll] = score(model, [(source, core(model, target))])
        assert nll == pytest.approx(float(answer.loss), abs=1e-5)


@each
@pytest.mark.parametrize("numbers", [torch.float16, torch.bfloat16], ids=str)
@torch.inference_mode()
def test_weights_of_two_bytes(tmp_path: Path, kind: Kind, numbers: torch.dtype):
    made(tmp_path / "model", kind).to(numbers).save_pretrained(tmp_path / "model")
    other = class_of(kind).from_pretrained(tmp_path / "model", dtype=torch.float32).eval()
    model = load_model(tmp_path / "model", "cpu")
    for words, target in zip(SOURCES, TARGETS, strict=True):
        source, _ = read(model, kind, words)
        loss = float(forced(other, kind, [words], [target], loss=True).loss)
        # The class takes the rounded sines from PEGASUS' file; ours are computed.
        error = 1e-3 if kind.name in ("Pegasus", "Marian") else 1e-5
        assert list(score(model, [(source, core(model, target))])) == pytest.approx(
            [loss], abs=error
        )


def generated(model: Model, kind: Kind, other, words: list[int]) -> list[list[int]]:
    """Return what the library generates, in the core's ids; it may write words alone."""
    source, ids = read(model, kind, words)
    end, known = other.config.eos_token_id, [n for n, name in enumerate(kind.names) if "▁" in name]
    outputs = other.generate(
        input_ids=ids,
        decoder_input_ids=torch.tensor([kind.prompt]),
        num_beams=1,
        do_sample=False,
        forced_eos_token_id=end,
        max_new_tokens=model.max_output_length(len(source)),
        bad_words_ids=[[row] for row in range(pieces_of(other)) if row not in (*known, end)],
    )
    return [
        core(model, [row for row in output[len(kind.prompt) :] if row in known])
        for output in outputs.tolist()
    ]


@each
@pytest.mark.parametrize("end_bias", [0.0, 2.0])
def test_greedy_search(tmp_path: Path, kind: Kind, end_bias: float):
    other = made(tmp_path / "model", kind, end_bias)
    model = load_model(tmp_path / "model", "cpu")
    requests = [BeamRequest(read(model, kind, words)[0]) for words in SOURCES]
    found = [result.outputs for result in translate(model, requests, beam_size=1)]
    assert found == [generated(model, kind, other, words) for words in SOURCES]


@pytest.mark.parametrize("name", ["NLLB", "BART", "PEGASUS", "Marian"])
def test_what_is_saved_is_read_by_both(tmp_path: Path, name: str):
    kind = EVERY[name]
    made(tmp_path / "model", kind)
    files = model_files(tmp_path / "model")
    opened = opened_model(tmp_path / "model", files)
    changed = {key: tensor * 1.5 for key, tensor in opened.raw.tensors.items()}
    (tmp_path / "new").mkdir()
    save_model(tmp_path / "model", files, changed, tmp_path / "new")
    other = class_of(kind).from_pretrained(tmp_path / "new").eval()
    model = load_model(tmp_path / "new", "cpu")
    source, _ = read(model, kind, SOURCES[0])
    loss = forced(other, kind, [SOURCES[0]], [[9]], loss=True).loss
    assert list(score(model, [(source, core(model, [9]))])) == pytest.approx([float(loss)], 1e-5)


def divided(folder: Path, suffix: str) -> tuple[Path, list[Path]]:
    """Put the weights of a folder in two parts, beside an index; return the paths of all."""
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    stem, write_part = "model", safetensors.torch.save_file
    if suffix == "bin":
        stem, write_part = "pytorch_model", torch.save
    names, parts, places = sorted(tensors), [], {}
    for number in (1, 2):
        part = folder / f"{stem}-0000{number}-of-00002.{suffix}"
        held = names[number - 1 :: 2]
        write_part({name: tensors[name].clone() for name in held}, part)
        places |= dict.fromkeys(held, part.name)
        parts.append(part)
    index = folder / f"{stem}.{suffix}.index.json"
    write(index, {"metadata": {"total_size": 1}, "weight_map": places})
    return index, parts


@pytest.mark.parametrize("suffix", ["safetensors", "bin"])
def test_weights_in_parts(tmp_path: Path, suffix: str):
    made(tmp_path / "model", KINDS["NLLB"])
    pairs = [(SOURCES[0], TARGETS[0])]
    whole = list(score(load_model(tmp_path / "model", "cpu"), pairs))
    divided(tmp_path / "model", suffix)
    assert list(score(load_model(tmp_path / "model", "cpu"), pairs)) == whole


def test_parts_that_are_not_of_one_model(tmp_path: Path):
    made(tmp_path / "model", KINDS["NLLB"])
    index, (first, second) = divided(tmp_path / "model", "safetensors")
    content = json.loads(index.read_text())
    name = "model.encoder.layers.7.fc1.bias"
    for places, message in (
        ([], f"{index}: no weight_map"),
        ({name: second.name}, f"{index}: weight_map has {name} in {second.name}, which lacks it"),
        ({name: "other.bin"}, f"{index}: weight_map has {name} in other.bin, which lacks it"),
    ):
        more = content["weight_map"] | places if places else places
        write(index, content | {"weight_map": more})
        with pytest.raises(InputError, match=re.escape(message)):
            load_model(tmp_path / "model", "cpu")
    write(index, content)
    some = min(safetensors.torch.load_file(first))
    safetensors.torch.save_file({some: torch.zeros(1)}, second)
    refused(tmp_path / "model", f"{second}: {some} is in {first.name}, too")


@pytest.mark.parametrize("listed", [True, False])
def test_m2m100s_codes_follow_its_vocabulary(tmp_path: Path, listed: bool):
    kind = KINDS["M2M100"]
    other = made(tmp_path / "model", kind)
    (tmp_path / "model" / "tokenizer.json").unlink()
    write(tmp_path / "model" / "vocab.json", {name: row for row, name in enumerate(FAIRSEQ)})
    (tmp_path / "model" / "sentencepiece.bpe.model").write_bytes(spm_model(WORDS))
    names = kind.names[18:21]
    tokens = {str(18 + n): {"content": name, "special": True} for n, name in enumerate(names)}
    write(
        tmp_path / "model" / "tokenizer_config.json",
        {"additional_special_tokens": names} if listed else {"added_tokens_decoder": tokens},
    )
    model = load_model(tmp_path / "model", "cpu")
    # Nothing has the name <mask>.
    assert rows(model, kind, other.config) == [1, 3, 18, 2, *range(4, 18), 0, 19, 20, 21, 22, 23]


def test_sentencepiece_alone_is_numbered_as_in_fairseq(tmp_path: Path):
    kind = KINDS["NLLB"]
    other = made(tmp_path / "model", kind)
    expected = rows(load_model(tmp_path / "model", "cpu"), kind, other.config)
    (tmp_path / "model" / "tokenizer.json").unlink()
    pieces = spm_model(WORDS, ("<unk>", "<s>", "</s>"))
    (tmp_path / "model" / "sentencepiece.bpe.model").write_bytes(pieces)
    names = {"additional_special_tokens": [*kind.names[18:21], "<mask>"]}
    write(tmp_path / "model" / "special_tokens_map.json", names)
    assert rows(load_model(tmp_path / "model", "cpu"), kind, other.config) == expected


def test_sentencepiece_of_pegasus_stands_behind_its_own_tokens(tmp_path: Path):
    kind = KINDS["PEGASUS"]
    made(tmp_path / "model", kind)
    (tmp_path / "model" / "tokenizer.json").unlink()
    pieces = spm_model(WORDS[:10], ("<pad>", "</s>", "<unk>"))
    (tmp_path / "model" / "spiece.model").write_bytes(pieces)
    write(tmp_path / "model" / "tokenizer_config.json", {"offset": 5})
    found = list(load_model(tmp_path / "model", "cpu").target_vocab)
    # Its <unk> is 2 + 5; the words follow.
    assert found[:14] == [*SYMBOLS, *WORDS[:10]]
    assert found[14:] == ["<mask_1>", "<mask_2>", "<unk_2>", "<unk_3>", "<unk_4>"] + [
        f"<pad{row}>" for row in range(18, 24)
    ]
    write(tmp_path / "model" / "tokenizer_config.json", {"offset": "5"})
    refused(tmp_path / "model", "offset is '5'; it must be a whole number from 2 to")


def test_what_is_suppressed_is_no_candidate(tmp_path: Path):
    made(tmp_path / "model", KINDS["BART"])
    path = tmp_path / "model" / "generation_config.json"
    edited(path, {"suppress_tokens": [9], "bad_words_ids": [[10]]})
    model = load_model(tmp_path / "model", "cpu")
    assert min(core(model, [9, 10])) >= model.target_vocab.words > max(core(model, [8, 11]))


def test_settings_of_a_search_are_told_once(tmp_path: Path, capsys: pytest.CaptureFixture):
    made(tmp_path / "model", KINDS["BART"])
    several = {"bad_words_ids": [[5, 6]], "begin_suppress_tokens": [4], "diversity_penalty": 0.0}
    settings = {"num_beams": 4, "length_penalty": 2.0} | several
    edited(tmp_path / "model" / "generation_config.json", settings)
    load_model(tmp_path / "model", "cpu")
    load_model(tmp_path / "model", "cpu")
    told = capsys.readouterr().err.splitlines()
    assert [line.rpartition(": ")[2] for line in told if "not followed" in line] == [
        "begin_suppress_tokens, length_penalty, num_beams, bad_words_ids of several tokens"
    ]


def test_trained_positions_bound_sources_and_outputs(tmp_path: Path):
    for name, most in (("BART", 39), ("NLLB", 120)):
        made(tmp_path / name, KINDS[name])
        model = load_model(tmp_path / name, "cpu")
        assert (model.max_source_pieces, model.max_target_pieces) == (39, 38)
        assert model.max_output_length(39) == most


@pytest.mark.parametrize(
    ("name", "chosen", "message"),
    [
        ("NLLB", None, "several languages (eng_Latn, por_Latn, spa_Latn): write the file paraloom"),
        ("NLLB", {"source": "por_Latn"}, '"source" and "target" and no other; target is missing'),
        ("NLLB", {"source": "pt", "target": "eng_Latn"}, "nearest of its 3 are por_Latn, "),
        ("NLLB", {"source": "por_Latn", "target": "pot_Latn"}, "nearest of its 3 are por_Latn, "),
        ("NLLB", {"source": 3, "target": "eng_Latn"}, "source is 3, which is no language of the "),
        ("BART", TO_NLLB, "has no languages to choose"),
        ("PEGASUS", TO_NLLB, "has no languages to choose"),
    ],
)
def test_languages_that_are_not_chosen_well(tmp_path: Path, name: str, chosen: Any, message: str):
    made(tmp_path / "model", KINDS[name]._replace(chosen=chosen))
    refused(tmp_path / "model", message)


@pytest.mark.parametrize(
    ("name", "changes", "shown"),
    [
        ("BART", {"model_type": "gpt2"}, "model_type is 'gpt2', supported is 'bart' or 'm2m_100'"),
        ("BART", {"architectures": ["BartForSequenceClassification"]}, "architectures is ['BartF"),
        ("BART", {"quantization_config": {"bits": 4}}, "quantization_config is {'bits': 4}"),
        ("BART", {"normalize_before": True}, "normalize_before is True, supported is False"),
        ("BART", {"activation_function": "gelu_new"}, "activation_function is 'gelu_new'"),
        ("BART", {"model_type": ["bart"]}, "model_type is ['bart'], supported is 'bart' or"),
        ("BART", {"architectures": 5}, "architectures is [5], supported are …ForConditionalGen"),
        ("BART", {"pad_token_id": 0}, "pad_token_id is 0, which is '<s>'; it must be the id of '<"),
        ("BART", {"pad_token_id": 99}, "pad_token_id is 99, which is None; it must be the id of"),
        ("PEGASUS", {"eos_token_id": 5}, "eos_token_id is 5, which is '▁5'; it must be the id of"),
        ("NLLB", {"pad_token_id": 0}, "pad_token_id is 0, supported is 1"),
        ("NLLB", {"tokenizer_class": "SMALL100Tokenizer"}, "tokenizer_class is 'SMALL100Tokeniz"),
        ("BART", {"suppress_tokens": 5}, "generation_config.json: suppress_tokens is 5; it must"),
        ("BART", {"suppress_tokens": [[1]]}, "suppress_tokens is [[1]]; it must be a list of ids"),
        ("BART", {"bad_words_ids": [5]}, "bad_words_ids is [5]; it must be a list of lists of ids"),
        ("BART", {"bad_words_ids": [[24]]}, "must be a list of lists of ids from 0 to 23"),
        (
            "NLLB",
            {"decoder_start_token_id": 0},
            "decoder_start_token_id of generation_config.json is 0, supp",
        ),
        (
            "mBART-50",
            {"decoder_start_token_id": 5},
            "generation_config.json is 5; it must be eos_token_id, 2",
        ),
        ("NLLB", {"vocab_size": 90}, "has 22 pieces with ids up to 21, vocab_size of the config"),
        ("NLLB", {"vocab_size": 20}, "vocab_size of the config is 20; it belongs to another model"),
        ("NLLB", {"vocab_size": 26}, "'model.encoder.embed_tokens.weight' is"),
    ],
)
def test_other_models_are_refused_by_name(tmp_path: Path, name: str, changes: dict, shown: str):
    made(tmp_path / "model", KINDS[name])
    # In the second what the first has of a search is set again.
    for file in ("config.json", "generation_config.json"):
        edited(tmp_path / "model" / file, changes)
    refused(tmp_path / "model", shown)


def test_the_first_token_of_the_decoder_is_that_of_a_search(tmp_path: Path):
    made(tmp_path / "model", KINDS["mBART-25"])
    edited(tmp_path / "model" / "generation_config.json", {"decoder_start_token_id": 2})
    assert load_model(tmp_path / "model", "cpu").marks.lead == (EOS,)


def test_ids_are_those_of_the_tokens_that_the_tokenizer_names(tmp_path: Path):
    made(tmp_path / "model", KINDS["BART"])
    tokens = {"pad_token": {"content": "<pad>"}, "eos_token": "▁4"}
    write(tmp_path / "model" / "tokenizer_config.json", tokens)
    with pytest.raises(InputError, match=r"eos_token_id is 2, which is '</s>'; it must .*'▁4', 4"):
        load_model(tmp_path / "model", "cpu")


@pytest.mark.parametrize(
    ("kind", "name"), [("NLLB", "spiece.model"), ("BART", "sentencepiece.bpe.model")]
)
def test_sentencepiece_whose_ids_are_not_known_is_refused(tmp_path: Path, kind: str, name: str):
    made(tmp_path / "model", KINDS[kind])
    (tmp_path / "model" / "tokenizer.json").unlink()
    (tmp_path / "model" / name).write_bytes(spm_model(WORDS, ("<unk>", "<s>", "</s>")))
    with pytest.raises(InputError, match=f"{name}: a model of .*; write tokenizer.json with"):
        load_model(tmp_path / "model", "cpu")
