"""Models with fixed weights, for the stages that read one."""

import json
from pathlib import Path

import numpy as np
import sentencepiece
import torch

from tests.golden.inputs import pairs
from tests.unit.nmt.folders import write_model
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.nmt.vocabulary import SYMBOLS


def sentence_model(path: Path, side: str) -> list[str]:
    """Train a SentencePiece model of single letters on the micro bitext; return its pieces."""
    sentences = [row[side] for row in pairs("train")]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences),
        model_prefix=str(path.with_suffix("")),
        model_type="char",
        vocab_size=200,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    path.with_suffix(".vocab").unlink()
    write_record(path, 0, 0, {})
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return [model.id_to_piece(index) for index in range(3, model.get_piece_size())]


def lone_segmenter(folder: Path) -> Path:
    """Write a folder that has of a model the references' sub-word model alone; return it."""
    path = folder / "reference.model"
    sentence_model(path, "reference")
    write_record(folder / "model", 0, 0, {}, files=[path])
    return folder


def fixed_model(folder: Path, given: str, target: str, seed: int) -> Path:
    """Write a Sockeye 3 model folder whose weights come from NumPy, as they do on every machine."""
    folder.mkdir(parents=True)
    pieces = {side: sentence_model(folder / f"{side}.model", side) for side in (given, target)}
    size = len(SYMBOLS) + max(map(len, pieces.values()))
    network = folder / "network"
    write_model(network, vocabulary=size, size=16, longest=70)
    for path in network.iterdir():
        path.rename(folder / path.name)
    network.rmdir()
    random = np.random.default_rng(seed)
    weights = torch.load(folder / "params.best", weights_only=True)
    for name in sorted(weights):
        if "pos_embedding" not in name:
            shape = tuple(weights[name].shape)
            spread = 0.4 if len(shape) > 1 else 0.05
            centre = 1.0 if name.endswith("layer_norm.weight") else 0.0
            weights[name] = torch.from_numpy(random.normal(centre, spread, shape)).float()
    weights["output_layer.weight"] = weights["embedding_target.embedding.weight"]
    # Sentences come to an end, and the vocabularies' padding is never written.
    weights["output_layer.bias"][SYMBOLS.index("</s>")] = 3.0
    weights["output_layer.bias"][len(SYMBOLS) + len(pieces[target]) :] = -30.0
    torch.save(weights, folder / "params.best")
    for name, side in (("vocab.src.0.json", given), ("vocab.trg.0.json", target)):
        entries = [*SYMBOLS, *pieces[side]]
        entries += [f"<unused{index}>" for index in range(len(entries), size)]
        text = json.dumps({piece: index for index, piece in enumerate(entries)})
        (folder / name).write_text(text, encoding="utf-8")
    write_record(folder / "model", 0, 0, {}, files=sorted(folder.iterdir()))
    return folder
