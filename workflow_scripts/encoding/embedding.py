"""Trained sentence embeddings: `load(folder).encode(sentences)`.

A model folder is flat. Besides what parts.py describes it has

    untrained.safetensors    the weights before training, the baseline of every evaluation
    modules.json ...         what `sentence_transformers.SentenceTransformer(folder)` reads
    model.json               the record of it all
"""

import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.json_text import parse_json
from workflow_scripts.core.statistics.numbers import require_finite
from workflow_scripts.encoding import encoders, parts, tokens

UNTRAINED = "untrained.safetensors"
# Sentences encoded at once; fewer where they are padded.
_CHUNK, _PADDED_CHUNK = 4096, 256
_TRAVELLING = ("encoders.py", "parts.py", "sentence_module.py", "tokens.py")
# A damaged or foreign folder may hold anything in place of what is looked for.
_READ_ERRORS = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RuntimeError,
    MemoryError,
    AssertionError,
    SafetensorError,
)
_LIBRARY = "sentence_transformers.models"


class SentenceEmbeddings:
    """A model that turns sentences into vectors."""

    def __init__(self, model: parts.Parts, device: str = "cpu"):
        self.parts = model
        self._device = torch.device(device)
        self._network = model.network.to(self._device)

    @property
    def size(self) -> int:
        """Numbers in a sentence vector."""
        return self._network.size

    @torch.no_grad()
    def encode(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of sentences, shape (sentences, size), not normalised.

        A sentence without any known token is a vector of zeros.
        """
        vectors = np.empty((len(sentences), self.size), dtype=np.float32)
        order, size = np.arange(len(sentences)), _CHUNK
        if self._network.sorted_by_length:
            order = np.argsort([len(sentence) for sentence in sentences], kind="stable")
            size = _PADDED_CHUNK
        for start in range(0, len(sentences), size):
            chosen = order[start : start + size]
            ids = {
                kind: self._tensors(tokeniser.ids([sentences[index] for index in chosen]))
                for kind, tokeniser in self.parts.tokenisers.items()
            }
            encoded = self._network([ids[kind] for kind in self.parts.config["tokens"]])
            vectors[chosen] = encoded.cpu().numpy()
        return vectors

    def _tensors(self, ragged: tokens.Ragged) -> encoders.Tokens:
        ids, lengths = (torch.from_numpy(array).to(self._device) for array in ragged)
        return ids, lengths


def load(folder: str | Path, untrained: bool = False, device: str = "cpu") -> SentenceEmbeddings:
    """Read the model in `folder`, as it is or as it was before training.

    Raises:
        InputError: the folder is no model folder of this stage, or a weight is no finite number.
    """
    weights = UNTRAINED if untrained else parts.WEIGHTS
    try:
        _require_sizes(Path(folder), weights)
        model = parts.read(Path(folder), weights)
    except _READ_ERRORS as error:
        raise InputError(
            f"{folder}: no model folder of the embed stage ({error}); give one that has "
            f"{parts.CONFIG} and {weights}"
        ) from error
    for name, values in model.network.state_dict().items():
        require_finite(Path(folder) / weights, name, values)
    return SentenceEmbeddings(model, device)


def _require_sizes(folder: Path, weights: str) -> None:
    """Refuse sizes that the weights don't have, before memory is taken for them.

    Raises:
        ValueError: they are others, or the configuration has a key twice.
    """
    config = parse_json((folder / parts.CONFIG).read_text(encoding="utf-8"))
    tables = len(config["tokens"])
    with torch.device("meta"):
        network = encoders.Network(
            config["encoders"],
            [0] * tables,
            *(config[name] for name in ("dimension", "hidden", "combine")),
        )
    wanted = {name: tuple(value.shape) for name, value in network.state_dict().items()}
    with safe_open(folder / weights, "pt") as stored:
        sizes = {name: tuple(stored.get_slice(name).get_shape()) for name in stored.keys()}  # noqa: SIM118 - it is no dict
    layers, wanted_layers = (
        {name: size for name, size in each.items() if name.startswith("encoders.")}
        for each in (sizes, wanted)
    )
    widths = [size[1:] for name, size in sizes.items() if name not in layers]
    if layers != wanted_layers or widths != [(config["dimension"],)] * tables:
        raise ValueError(f"the weights have other sizes than {parts.CONFIG} says")
    if config["combine"] not in ("add", "concatenate"):
        raise ValueError(f"combine is {config['combine']!r:.50}, not 'add' or 'concatenate'")
    if config["combine"] == "add" and len({each.size for each in network.encoders}) > 1:
        raise ValueError("vectors of different sizes can't be added")
    if any(isinstance(each, encoders.Bidirectional) and each.size % 2 for each in network.encoders):
        raise ValueError("hidden is odd, and each of two directions has one half")


def save(folder: Path, model: parts.Parts) -> list[Path]:
    """Write a model into an empty folder; return its files."""
    parts.write(folder, model)
    modules = ["sentence_module.SentenceModule"]
    if model.stock:
        modules = [f"{_LIBRARY}.WordEmbeddings", f"{_LIBRARY}.Pooling"]
        size = model.network.size
        _write(
            folder / "wordembedding_config.json",
            {
                "tokenizer_class": f"{_LIBRARY}.tokenizer.WhitespaceTokenizer",
                "update_embeddings": False,
                "max_seq_length": 1_000_000,
            },
        )
        _write(
            folder / "config.json",
            {"word_embedding_dimension": size, "pooling_mode_mean_tokens": True},
        )
    else:
        for name in _TRAVELLING:
            shutil.copyfile(Path(__file__).with_name(name), folder / name)
    _write(
        folder / "modules.json",
        [
            {"idx": index, "name": str(index), "path": "", "type": kind}
            for index, kind in enumerate(modules)
        ],
    )
    _write(folder / "config_sentence_transformers.json", {"similarity_fn_name": "cosine"})
    return sorted(folder.iterdir())


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def cosines(first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the cosine of each pair of rows; 0 where one is all zeros."""
    first, second = first.astype(np.float64), second.astype(np.float64)
    norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    products = np.einsum("ij,ij->i", first, second)
    return np.divide(products, norms, out=np.zeros_like(products), where=norms > 0)


def similarities(
    model: SentenceEmbeddings, pairs: Iterable[tuple[str, str]]
) -> NDArray[np.float64]:
    """Return the cosine of the vectors of each pair of sentences."""
    pairs = list(pairs)
    first = model.encode([one for one, _ in pairs])
    return cosines(first, model.encode([other for _, other in pairs]))
