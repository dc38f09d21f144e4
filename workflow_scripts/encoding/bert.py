"""Encoders of sentences that are a BERT with the mean of its tokens, as all-MiniLM-L6-v2 is.

They work by the blocks of the search core, without sentence-transformers and transformers: these
take several seconds to import. The vectors are the same but for rounding.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor

from workflow_scripts.core.files.json_text import parse_json
from workflow_scripts.encoding.interface import LAYERS, Read
from workflow_scripts.nmt.attention import SelfAttention
from workflow_scripts.nmt.blocks import FeedForward, Frame, Grid, Norm
from workflow_scripts.nmt.linear import Linear, fill_up
from workflow_scripts.nmt.network import Embedding, EncoderLayer, converted
from workflow_scripts.nmt.precision import FP32, Precision
from workflow_scripts.plan.catalogues.encoder_blocks import MODULES

# Sentences of like length that are encoded together.
_BATCH = 16
_LIBRARY = "sentence_transformers."
_TRANSFORMER, _POOLING, _NORMALIZE = "Transformer", "Pooling", "Normalize"
# What config.json must say, where it says anything.
_CONFIG: dict[str, tuple[object, ...]] = {
    "model_type": ("bert",),
    "hidden_act": ("gelu",),
    "position_embedding_type": ("absolute",),
    "is_decoder": (False,),
    "add_cross_attention": (False,),
}
# Settings of the tokenizer, and what its file calls them.
_NORMALISED = {
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}
_MEAN = "pooling_mode_mean_tokens"


@dataclass
class _Network:
    """The layers of a BERT, and the norm of its embeddings."""

    embedding: Embedding
    norm: Norm
    layers: list[EncoderLayer]


class Bert:
    """A BERT that turns a sentence into the mean of the vectors of its tokens.

    Args:
        tokenizer: cuts sentences that are too long.
        network: on the device.
        normalised: whether the vectors get the length 1.
        device: of torch.
    """

    def __init__(
        self, tokenizer: Tokenizer, network: _Network, normalised: bool, device: torch.device
    ):
        self._tokenizer, self._network = tokenizer, network
        self._normalised, self._device = normalised, device
        added = tokenizer.get_added_tokens_decoder()
        self._special = {number for number, token in added.items() if token.special}

    @classmethod
    def opened(cls, folder: Path, device: str, precision: Precision = FP32) -> Self | None:
        """Return the encoder in a folder of sentence-transformers; None if it is another kind.

        It is None also where a file is missing or damaged: the library says what is wrong there.

        Raises:
            InputError: the device has no such precision.
        """
        place = torch.device(device)
        precision.check(place)
        try:
            normalised = _normalised(folder)
            config = parse_json((folder / "config.json").read_text(encoding="utf-8"))
            known = all(config.get(key, among[0]) in among for key, among in _CONFIG.items())
            if normalised is None or not known or config["num_hidden_layers"] + 1 < LAYERS:
                return None
            tokenizer = _tokenizer(folder)
            if tokenizer is None:
                return None
            network = _network(load_file(folder / "model.safetensors"), config)
            return cls(tokenizer, converted(network, place, precision), normalised, place)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, SafetensorError):
            return None

    def encode(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors, shape (sentences, size); sentences of like length go together."""
        size = self._network.embedding.pieces.shape[1]
        vectors = np.zeros((len(sentences), size), np.float32)
        for places, ids in self._batches(sentences):
            hidden, lengths = self._layers(ids, 1)
            vectors[places] = self._sentences(hidden[-1], lengths).cpu().numpy()
        return vectors

    def read(self, sentences: Sequence[str]) -> list[Read]:
        """Return the vectors of each sentence and of its tokens, of like length together."""
        read: list[Read | None] = [None] * len(sentences)
        for places, ids in self._batches(sentences):
            hidden, lengths = self._layers(ids, LAYERS)
            vectors = self._sentences(hidden[-1], lengths).cpu().numpy()
            layers = torch.stack(hidden).cpu().numpy()
            for row, (place, tokens) in enumerate(zip(places, ids, strict=True)):
                own = [at for at, token in enumerate(tokens) if token not in self._special]
                read[place] = Read(layers[:, row, own], vectors[row])
        return [each for each in read if each is not None]

    def _batches(self, sentences: Sequence[str]) -> list[tuple[list[int], list[list[int]]]]:
        """Return the places of sentences of like length, each batch with its tokens."""
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch(list(sentences))]
        order = sorted(range(len(ids)), key=lambda place: len(ids[place]))
        batches = (order[start : start + _BATCH] for start in range(0, len(order), _BATCH))
        return [(places, [ids[place] for place in places]) for places in batches]

    @torch.inference_mode()
    def _layers(self, ids: list[list[int]], last: int) -> tuple[list[Tensor], Tensor]:
        """Return the outputs [S, L, D] of the last layers, and the lengths [S] of sentences."""
        grid = Grid(len(ids), max(map(len, ids)))
        padded = [each + [0] * (grid.width - len(each)) for each in ids]
        lengths = torch.tensor([len(each) for each in ids], device=self._device)
        within = torch.arange(grid.width, device=self._device) < lengths[:, None]
        network = self._network
        tokens = torch.tensor(padded, device=self._device)
        x = network.norm(fill_up(network.embedding.whole(tokens).flatten(0, 1)))
        outputs = [x]
        for layer in network.layers:
            x = layer(x, grid, within[:, None, None])
            outputs.append(x)
        # numpy has no bf16, and sums over a sentence need more.
        return [grid.spread(output).float() for output in outputs[-last:]], lengths

    def _sentences(self, hidden: Tensor, lengths: Tensor) -> Tensor:
        """Return the means [S, D] over the tokens of each sentence."""
        within = torch.arange(hidden.shape[1], device=self._device) < lengths[:, None]
        means = (hidden * within[:, :, None]).sum(1) / lengths[:, None]
        return F.normalize(means, dim=1) if self._normalised else means


def _normalised(folder: Path) -> bool | None:
    """Return whether vectors have length 1; None if sentences are no means of a BERT's tokens.

    Raises:
        OSError, ValueError, KeyError, TypeError, AttributeError: a file is not as it should be.
    """

    def read(name: str) -> Any:
        return parse_json((folder / name).read_text(encoding="utf-8"))

    parts = {part["type"].rpartition(".")[2]: part for part in read(MODULES)}
    names = [*parts]
    if names not in ([_TRANSFORMER, _POOLING], [_TRANSFORMER, _POOLING, _NORMALIZE]):
        return None
    own = all(part["type"].startswith(_LIBRARY) for part in parts.values())
    pooling = read(f"{parts[_POOLING]['path']}/config.json")
    modes = [name for name, chosen in pooling.items() if name.startswith("pooling_mode") and chosen]
    if not own or parts[_TRANSFORMER]["path"] or modes != [_MEAN]:
        return None
    return _NORMALIZE in parts


def _tokenizer(folder: Path) -> Tokenizer | None:
    """Return the tokenizer of a BERT; None if it is another kind.

    Raises:
        OSError, ValueError, KeyError, TypeError, AttributeError: a file is not as it should be.
    """
    settings, length, file = (
        parse_json((folder / name).read_text(encoding="utf-8"))
        for name in ("tokenizer_config.json", "sentence_bert_config.json", "tokenizer.json")
    )
    # transformers lets the settings win over the file.
    same = all(
        settings[key] == file["normalizer"][name]
        for key, name in _NORMALISED.items()
        if key in settings
    )
    known = length.keys() <= {"max_seq_length", "do_lower_case"} and not length["do_lower_case"]
    is_bert = settings["tokenizer_class"] in ("BertTokenizer", "BertTokenizerFast")
    if not (same and known and is_bert and file["normalizer"]["type"] == "BertNormalizer"):
        return None
    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # the package raises no other kind
        raise ValueError(str(error)) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(length["max_seq_length"])
    return tokenizer


def _network(weights: dict[str, Tensor], config: dict[str, Any]) -> _Network:
    """Return the layers of a BERT.

    Raises:
        KeyError: a weight is missing.
    """

    def linear(name: str) -> Linear:
        return Linear(weights[f"{name}.weight"].float(), weights[f"{name}.bias"].float())

    def norm(name: str) -> Norm:
        weight, bias = (weights[f"{name}.{part}"].float() for part in ("weight", "bias"))
        return Norm(weight, bias, config["layer_norm_eps"])

    def layer(name: str) -> EncoderLayer:
        attention = SelfAttention.of(
            Frame(after=norm(f"{name}.attention.output.LayerNorm")),
            config["num_attention_heads"],
            query=linear(f"{name}.attention.self.query"),
            key=linear(f"{name}.attention.self.key"),
            value=linear(f"{name}.attention.self.value"),
            out=linear(f"{name}.attention.output.dense"),
        )
        inward, out = linear(f"{name}.intermediate.dense"), linear(f"{name}.output.dense")
        after = Frame(after=norm(f"{name}.output.LayerNorm"))
        return EncoderLayer(attention, FeedForward(after, inward, out, "gelu"))

    pieces, positions, types = (
        weights[f"embeddings.{name}_embeddings.weight"].float()
        for name in ("word", "position", "token_type")
    )
    layers = [layer(f"encoder.layer.{number}") for number in range(config["num_hidden_layers"])]
    # All tokens are of the first type.
    embedding = Embedding(pieces, positions + types[0])
    return _Network(embedding, norm("embeddings.LayerNorm"), layers)
