"""`paraloom inspect --compare`: folders that transformers wrote, tokenizers and all."""

import json
from pathlib import Path

import pytest
import torch
import transformers

from tests.unit.nmt.families import SIZES
from tests.unit.nmt.test_tokenizers import learnt, sentences
from workflow_scripts.nmt import beside_transformers
from workflow_scripts.nmt.inspect import inspect, main
from workflow_scripts.nmt.loaders import load_model

pytestmark = pytest.mark.slow

TEXTS = [*sentences()[:12], "", "Já não há nada em «São João»: 3,5 km²…", "x " * 200]
CODES = {"NLLB": ("por_Latn", "eng_Latn"), "mBART-50": ("pt_XX", "en_XX")}
CODES |= {"mBART-25": ("ro_RO", "en_XX"), "M2M100": ("__pt__", "__en__")}


def bpe(folder: Path) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Return pieces and merges of a BPE model of SentencePiece, numbered as in fairseq."""
    from transformers.convert_slow_tokenizer import generate_merges

    processor = learnt(folder, "sentencepiece.bpe.model", model_type="bpe")
    pieces = [processor.id_to_piece(row) for row in range(3, len(processor))]
    scores = {piece: processor.get_score(row) for row, piece in enumerate(pieces, 3)}
    ids = {name: row for row, name in enumerate(("<s>", "<pad>", "</s>", "<unk>", *pieces))}
    return ids, generate_merges(ids, scores)


def unigram(folder: Path, **options: int) -> list[tuple[str, float]]:
    processor = learnt(folder, "unigram.model", **options)
    return [(processor.id_to_piece(row), processor.get_score(row)) for row in range(len(processor))]


def nllb(folder: Path):
    ids, merges = bpe(folder)
    return transformers.NllbTokenizer(ids, merges)


def m2m100(folder: Path):
    ids, _ = bpe(folder)
    (folder / "vocab.json").write_text(json.dumps(ids))
    spm = folder / "sentencepiece.bpe.model"
    return transformers.M2M100Tokenizer(str(folder / "vocab.json"), str(spm))


def mbart_25(folder: Path):
    symbols = [(name, 0.0) for name in ("<s>", "<pad>", "</s>", "<unk>")]
    return transformers.MBartTokenizer(symbols + unigram(folder)[3:])


def mbart_50(folder: Path):
    return transformers.MBart50Tokenizer(unigram(folder))


def bart(folder: Path):
    from tokenizers import ByteLevelBPETokenizer

    learnt = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    learnt.train_from_iterator(sentences(), 400, special_tokens=special, show_progress=False)
    learnt.save_model(str(folder))
    vocab = json.loads((folder / "vocab.json").read_text())
    merges = [tuple(line.split()) for line in (folder / "merges.txt").read_text().splitlines()[1:]]
    return transformers.BartTokenizer(vocab, merges)


def pegasus(folder: Path):
    pieces = unigram(folder, pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    names = ["<pad>", "</s>", "<mask_1>", "<mask_2>", *(f"<unk_{n}>" for n in range(2, 103))]
    return transformers.PegasusTokenizer([*((name, 0.0) for name in names), *pieces[2:]])


KINDS = {
    **{"NLLB": (nllb, "M2M100"), "M2M100": (m2m100, "M2M100"), "mBART-50": (mbart_50, "MBart")},
    **{"mBART-25": (mbart_25, "MBart"), "BART": (bart, "Bart")},
    "PEGASUS": (pegasus, "Pegasus"),
}


def written(folder: Path, kind: str) -> Path:
    """Write a model of random weights with its tokenizer; return its folder."""
    make, name = KINDS[kind]
    tokenizer = make(folder)
    ids = {f"{key}_token_id": getattr(tokenizer, f"{key}_token_id") for key in ("pad", "eos")}
    start = ids["pad_token_id" if name == "Pegasus" else "eos_token_id"]
    codes = CODES.get(kind)
    if kind == "mBART-25":
        start = tokenizer.convert_tokens_to_ids(codes[1])
    # M2M100's tokenizer counts neither its codes nor its made-up words.
    size = len(tokenizer) + 108 * (kind == "M2M100")
    changes = ids | {"vocab_size": size, "decoder_start_token_id": start}
    changes |= {"forced_eos_token_id": None, "max_position_embeddings": 128}
    torch.manual_seed(3)
    config = getattr(transformers, f"{name}Config")(**SIZES | changes)
    model = getattr(transformers, f"{name}ForConditionalGeneration")(config)
    for parameter in model.parameters():
        if parameter.dim() > 1 and parameter.requires_grad:
            torch.nn.init.normal_(parameter, 0, 0.25)
    model.save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    if codes is not None:
        chosen = json.dumps(dict(zip(("source", "target"), codes, strict=True)))
        (folder / "model" / "paraloom.json").write_text(chosen)
    return folder / "model"


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_is_read_as_the_library_reads_it(tmp_path, kind, capfd):
    folder = written(tmp_path, kind)
    # As the folder of a rewriter has it.
    (folder / "rewriter.json").write_text('{"prefix": "the old "}')
    capfd.readouterr()
    told = inspect(folder, TEXTS)
    assert capfd.readouterr().err == ""
    found = told["compared"]
    assert found["same_ids"] == found["sentences"] == len(TEXTS) - 2
    assert found["log_probabilities"] < 1e-4
    assert found["same_outputs"] > 0
    # Random weights do not begin with <s> by themselves, as BART must.
    begins = ["an output begins with <s> here; the model gives it -8.2 nats"]
    assert told["refused"] == (begins if kind == "BART" else [])


def test_what_is_read_otherwise_is_told(tmp_path, monkeypatch, capsys):
    folder = written(tmp_path, "PEGASUS")
    (tmp_path / "text").write_text("the old cat\n", encoding="utf-8")
    model = load_model(folder, "cpu")
    model.network.target.pieces[5:] *= 1.5
    monkeypatch.setattr(beside_transformers, "load_model", lambda *_: model)
    other = transformers.AutoTokenizer.from_pretrained(folder)
    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda *_, **__: other)
    other.add_tokens(["cat"])
    assert main([str(folder), "--compare", str(tmp_path / "text")]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["compared"]["sentences"], told["compared"]["same_ids"]) == (1, 0)
    ids, difference = told["refused"]
    assert ids == "the library's tokenizer has other ids for 'the old cat'"
    assert difference.startswith("log-probabilities differ from the library's by ")


def test_what_cannot_be_compared(tmp_path: Path, oracle_dir: Path):
    [reason] = inspect(oracle_dir / "model", ["a"])["refused"]
    assert "Sockeye 3 can't be compared" in reason
    [reason] = inspect(written(tmp_path, "PEGASUS"), ["", " "])["refused"]
    assert "no sentence to compare" in reason
