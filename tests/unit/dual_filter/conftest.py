"""A forward and a backward model with random weights, and a shard of pairs."""

import json
from pathlib import Path

import pytest
import sentencepiece
import torch

from tests.tables import pair, write_table
from tests.unit.nmt.folders import write_model
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.nmt.vocabulary import SYMBOLS

SOURCES = ["pes spí", "kočka jí", "pes jí", "kočka spí", "pes vidí kočku", "kočka vidí psa"]
REFERENCES = ["dog sleeps", "cat eats", "dog eats", "cat sleeps", "dog sees cat", "cat sees dog"]
LONGEST = 30


def sentencepiece_model(path: Path, sentences: list[str]) -> list[str]:
    """Train a model whose pieces are single letters, and return these."""
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences),
        model_prefix=str(path.with_suffix("")),
        model_type="char",
        vocab_size=64,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return [processor.id_to_piece(index) for index in range(3, processor.get_piece_size())]


def model_folder(folder: Path, direction: tuple[str, str], seed: int) -> Path:
    write_model(folder, longest=LONGEST, seed=seed)
    sides = {"source": SOURCES, "reference": REFERENCES}
    pieces = {
        side: sentencepiece_model(folder / f"{side}.model", sentences)
        for side, sentences in sides.items()
    }
    for name, side in zip(("vocab.src.0.json", "vocab.trg.0.json"), direction, strict=True):
        entries = [*SYMBOLS, *pieces[side]][:24]
        entries += [f"<pad{index}>" for index in range(len(entries), 24)]
        vocabulary = {piece: index for index, piece in enumerate(entries)}
        (folder / name).write_text(json.dumps(vocabulary), encoding="utf-8")
    files = [path for path in folder.iterdir() if path.suffix != ".vocab"]
    write_record(folder / "model", 0, 0, {}, files=files)
    return folder


@pytest.fixture(scope="session")
def models(tmp_path_factory) -> dict[str, Path]:
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("models")
    return {
        "forward": model_folder(folder / "forward", ("source", "reference"), seed=1),
        "backward": model_folder(folder / "backward", ("reference", "source"), seed=2),
    }


@pytest.fixture
def write_pairs(tmp_path):
    def write(pairs: list[dict[str, str]], name: str = "pairs") -> Path:
        return write_table(tmp_path / f"{name}.parquet", PairRow, pairs)

    return write


@pytest.fixture
def pairs() -> list[dict[str, str]]:
    """Twelve pairs, every third of a trusted corpus, the last one too long for the models."""
    texts = list(zip(SOURCES, REFERENCES, strict=True))
    texts += [
        (source, reference) for source, (_, reference) in zip(SOURCES, texts[1:], strict=False)
    ]
    texts.append((SOURCES[0], "dog " * LONGEST))
    return [
        pair(f"c:{number}", *each) | {"corpus": "web" if number % 3 else "trusted"}
        for number, each in enumerate(texts)
    ]
