"""Loading of Marian models, binary (`.bin`) and `.npz`."""

from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.model_folder import MARIAN_BINARY, ModelFiles
from workflow_scripts.core.text.subword_model import sentence_piece
from workflow_scripts.nmt.attention import CrossAttention, SelfAttention
from workflow_scripts.nmt.blocks import FeedForward, Frame, Norm, PrefixBlock
from workflow_scripts.nmt.linear import Linear
from workflow_scripts.nmt.loaders import marian_options
from workflow_scripts.nmt.loaders.description import Opened, Raw, Summary
from workflow_scripts.nmt.loaders.marian_items import Items, as_npz, read_binary, read_npz
from workflow_scripts.nmt.loaders.marian_options import Options
from workflow_scripts.nmt.loaders.parameters import Parameters
from workflow_scripts.nmt.network import (
    DecoderLayer,
    Embedding,
    EncoderLayer,
    Network,
    Sizes,
    output_layer,
)
from workflow_scripts.nmt.positions import sinusoids
from workflow_scripts.nmt.ssru import SSRU
from workflow_scripts.nmt.vocabulary import SYMBOLS, Vocabulary

# Marian's own ids; it has no <pad> and no <s>. Every other id is the core's less MOVED.
EOS, UNK = 0, 1
MOVED = 2
# How many tokens an output may have for each of its source: Marian's `max-length-factor`.
LONGEST_OUTPUT = 3.0
_OUTPUT = "decoder_ff_logit_out"


def opened(folder: Path, files: ModelFiles) -> Opened:
    """Return the parameters by Marian's names, and the vocabularies."""
    path = folder / files.weights
    items = _items(path, files)
    options, reasons = marian_options.parse(path, items.options)
    if options is None:
        raise InputError(f"{path} is not supported: {'; '.join(reasons)}")
    assert files.source_spm is not None
    assert files.target_spm is not None
    raw = Raw(items.tensors, frozenset(), partial(_network, path, options))
    network = raw.build(raw.tensors)
    # After the weights: these are as many as the options say.
    sides = (files.source_spm, options.source_pieces), (files.target_spm, options.target_pieces)
    # One file for both sides is read once.
    read = {side: vocabulary(folder / side[0], side[1]) for side in dict.fromkeys(sides)}
    source, target = (read[side] for side in sides)
    return Opened(raw, source, target, network)


def stored(folder: Path, files: ModelFiles) -> dict[str, Tensor]:
    """Return the tensors of the file by their names there; tied ones may share their memory."""
    return _items(folder / files.weights, files).tensors


def saved(folder: Path, files: ModelFiles, tensors: dict[str, Tensor]) -> tuple[str, bytes]:
    """Return the name and the content of an .npz of parameters, named as `opened` names them."""
    options = _items(folder / files.weights, files).options
    return "model.npz", as_npz(tensors, options)


def summary(folder: Path, files: ModelFiles) -> Summary:
    """Return what is known of a model without its weights, and why it can't be loaded.

    Raises:
        InputError: the file can't be read.
    """
    path = folder / files.weights
    options, reasons = marian_options.parse(path, _items(path, files).options)
    if options is None:
        return Summary(refused=reasons)
    return Summary(
        layers=(options.encoder_layers, options.decoder_layers),
        size=options.size,
        vocabulary=(options.source_pieces, options.target_pieces),
    )


def _network(path: Path, options: Options, tensors: dict[str, Tensor]) -> Network:
    """Return the network of all items of a file."""
    parameters = Parameters(path, dict(tensors))
    network = _Reader(parameters, options).network()
    parameters.check_all_used()
    return network


def _items(path: Path, files: ModelFiles) -> Items:
    return read_binary(path) if files.kind == MARIAN_BINARY else read_npz(path)


def vocabulary(path: Path, size: int) -> Vocabulary:
    """Return the pieces of a SentencePiece model in the core's order, `size` of them and two more.

    Marian may fill an embedding up; entries behind the pieces occur in no text.
    """
    processor = sentence_piece(path)
    ids = (processor.eos_id(), processor.unk_id(), processor.bos_id(), processor.pad_id())
    if ids != (EOS, UNK, -1, -1):
        raise InputError(
            f"{path}: the ids of </s>, <unk>, <s>, <pad> are {', '.join(map(str, ids))}; Marian's "
            f"are {EOS}, {UNK}, -1, -1: this is not the SentencePiece model of a Marian model"
        )
    count = processor.get_piece_size()
    if count > size:
        raise InputError(
            f"{path}: {count} pieces, the model has {size}; put the SentencePiece model there that "
            "the model was trained with"
        )
    try:
        pieces = [*SYMBOLS, *map(processor.id_to_piece, range(UNK + 1, count))]
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: a piece is no UTF-8: {error}; the file is damaged") from None
    pieces += [f"<pad{index}>" for index in range(len(pieces), size + MOVED)]
    try:
        return Vocabulary(pieces)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def in_core_order(table: Tensor, pad: Tensor, start: Tensor) -> Tensor:
    """Return rows [V, ...] in the order of Marian's ids as rows [V + 2, ...] in that of the core's.

    `pad` and `start` are the rows of <pad> and <s>.
    """
    symbols = torch.stack([pad, table[UNK], start, table[EOS]])
    return torch.cat([symbols, table[UNK + 1 :]])


class _Reader:
    """Makes the layers of a network from Marian's parameters."""

    def __init__(self, parameters: Parameters, options: Options):
        self._parameters = parameters
        self._take = parameters.take
        self._options = options

    def network(self) -> Network:
        """Return the whole network."""
        options = self._options
        tables = self._tables()
        longest = options.max_length + 1
        reach = int(LONGEST_OUTPUT * longest)
        bias = self._take(f"{_OUTPUT}_b", 1, options.target_pieces)[0]
        target = tables[options.target_embedding]
        output = target if options.tied_output else self._untied()
        none = bias.new_tensor(-torch.inf)
        sides = [f"{side}_top" for side in ("encoder", "decoder")]
        encoder_norm, decoder_norm = (
            self._norm(side) if options.pre_norm else None for side in sides
        )
        return Network(
            Sizes(options.size, longest, longest, LONGEST_OUTPUT),
            source=self._embedding(tables[options.source_embedding], longest),
            target=self._embedding(target, reach),
            encoder=[self._encoder_layer(n + 1) for n in range(options.encoder_layers)],
            encoder_norm=encoder_norm,
            decoder=[self._decoder_layer(n + 1) for n in range(options.decoder_layers)],
            decoder_norm=decoder_norm,
            output=output_layer(_with_symbols(output), in_core_order(bias, none, none)),
        )

    def _tables(self) -> dict[str, Tensor]:
        """Return the embeddings [V, D] by their names."""
        options = self._options
        sizes = {
            options.source_embedding: options.source_pieces,
            options.target_embedding: options.target_pieces,
        }
        return {name: self._take(name, size, options.size) for name, size in sizes.items()}

    def _untied(self) -> Tensor:
        """Return the weight [V, D] of an output layer of its own."""
        return self._matrix(f"{_OUTPUT}_W", self._options.size, self._options.target_pieces)

    def _embedding(self, table: Tensor, positions: int) -> Embedding:
        """Return the embedding of a table [V, D]; a sentence begins with the zeros of <s>."""
        size = self._options.size
        vectors = sinusoids(positions, size, step=size // 2 - 1)
        return Embedding(_with_symbols(table) * size**0.5, vectors)

    def _encoder_layer(self, number: int) -> EncoderLayer:
        prefix = f"encoder_l{number}"
        return EncoderLayer(
            self._self_attention(f"{prefix}_self"),
            self._feed_forward(f"{prefix}_ffn", self._options.encoder_hidden),
        )

    def _decoder_layer(self, number: int) -> DecoderLayer:
        prefix = f"decoder_l{number}"
        reads_prefix: PrefixBlock = (
            self._ssru(f"{prefix}_rnn")
            if self._options.ssru
            else self._self_attention(f"{prefix}_self")
        )
        name = f"{prefix}_context"
        cross = CrossAttention.of(
            self._frame(f"{name}_Wo"), self._options.heads, **self._products(name)
        )
        hidden = self._options.decoder_hidden
        return DecoderLayer(reads_prefix, cross, self._feed_forward(f"{prefix}_ffn", hidden))

    def _self_attention(self, name: str) -> SelfAttention:
        frame = self._frame(f"{name}_Wo")
        return SelfAttention.of(frame, self._options.heads, **self._products(name))

    def _products(self, name: str) -> dict[str, Linear]:
        """Return the products of an attention by their roles."""
        size = self._options.size
        roles = {"query": "q", "key": "k", "value": "v", "out": "o"}
        return {role: self._linear(name, letter, size, size) for role, letter in roles.items()}

    def _ssru(self, name: str) -> SSRU:
        size = self._options.size
        return SSRU.of(
            # Marian names the norm before the block unlike the one behind it.
            self._frame(name if self._options.pre_norm else f"{name}_ffn"),
            forget=self._linear(name, "f", size, size),
            new=Linear(self._matrix(f"{name}_W", size, size)),
        )

    def _feed_forward(self, name: str, hidden: int) -> FeedForward:
        size = self._options.size
        return FeedForward(
            self._frame(f"{name}_ffn"),
            self._linear(name, "1", size, hidden),
            self._linear(name, "2", hidden, size),
            self._options.activation,
        )

    def _frame(self, prefix: str) -> Frame:
        if self._options.pre_norm:
            return Frame(before=self._norm(prefix, "_pre"))
        return Frame(after=self._norm(prefix))

    def _norm(self, prefix: str, suffix: str = "") -> Norm:
        weight, bias = (
            self._vector(f"{prefix}_ln_{part}{suffix}", self._options.size)
            for part in ("scale", "bias")
        )
        return Norm(weight, bias)

    def _linear(self, name: str, letter: str, inward: int, outward: int) -> Linear:
        return Linear(
            self._matrix(f"{name}_W{letter}", inward, outward),
            self._vector(f"{name}_b{letter}", outward),
        )

    def _matrix(self, name: str, inward: int, outward: int) -> Tensor:
        """Return a weight [out, in]; Marian has [in, out]."""
        return self._take(name, inward, outward).T

    def _vector(self, name: str, size: int) -> Tensor:
        return self._take(name, 1, size)[0]


def _with_symbols(table: Tensor) -> Tensor:
    """Return a table [V, D] in the core's order; <pad> and <s> are zeros."""
    zeros = torch.zeros_like(table[0])
    return in_core_order(table, zeros, zeros)
