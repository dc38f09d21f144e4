"""The sentence encoders, alone or several trained jointly.

This file travels in the folder of a trained model (see sentence_module.py), so it imports nothing
of this package. WORD, TRIGRAM, LSTM and BLSTM are those of ParaNMT (Wieting & Gimpel 2018,
section 4), where WORD is the AVG of Wieting et al. (2017); GRAN is the gated recurrent averaging
network of Wieting & Gimpel (2017), as Wieting et al. (2017, 4.1) describe it.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

# Ids of the tokens of all sentences, shape (tokens,); and the number of each, (sentences,).
Tokens = tuple[Tensor, Tensor]


def _sentence_of_token(lengths: Tensor) -> Tensor:
    return torch.repeat_interleave(torch.arange(len(lengths), device=lengths.device), lengths)


def _mean(values: Tensor, lengths: Tensor) -> Tensor:
    """Return the means over tokens, shape (sentences, size); 0 without tokens.

    `values` has shape (tokens, size).
    """
    sums = values.new_zeros(len(lengths), values.shape[1])
    sums = sums.index_add(0, _sentence_of_token(lengths), values)
    return sums / lengths.clamp(min=1).unsqueeze(1)


class Encoder(nn.Module):
    """Turns the token vectors of sentences into sentence vectors.

    Each encoder says of itself, where it is defined (`class Mine(Encoder, order_matters=True,
    sorted_by_length=False)`), what training and encoding must know. There are no defaults, and
    nothing is inherited: an encoder that leaves one out is a TypeError.

    Attributes:
        order_matters: whether another order of the tokens gives another vector. Training shuffles
            the tokens of some sentences of such encoders (ParaNMT, section 4).
        sorted_by_length: whether it pads sentences to the longest of their batch. They are then
            sorted by length first, and encoded in smaller batches.
        size: numbers in a sentence vector.
    """

    order_matters: bool
    sorted_by_length: bool
    size: int

    def __init_subclass__(
        cls, *, order_matters: bool, sorted_by_length: bool, **options: Any
    ) -> None:
        """Keep what an encoder says of itself."""
        super().__init_subclass__(**options)
        cls.order_matters, cls.sorted_by_length = order_matters, sorted_by_length


class Average(Encoder, order_matters=False, sorted_by_length=False):
    """The mean of the token vectors: WORD and TRIGRAM."""

    def __init__(self, dimension: int, hidden: int):
        super().__init__()
        self.size = dimension

    def forward(self, vectors: Tensor, tokens: Tokens, dropout: float) -> Tensor:
        """Return the sentence vectors; shapes as in `Network.forward`."""
        ids, lengths = tokens
        if dropout:
            return _mean(functional.dropout(vectors[ids], dropout), lengths)
        offsets = torch.cumsum(lengths, 0) - lengths
        return functional.embedding_bag(ids, vectors, offsets, mode="mean")


class Recurrent(Encoder, order_matters=True, sorted_by_length=True):
    """The mean of the hidden states of an LSTM.

    `hidden` is the size of the sentence vector, of which each of two directions has one half.
    """

    directions = 1

    def __init__(self, dimension: int, hidden: int):
        super().__init__()
        self.size = hidden
        self.lstm = nn.LSTM(
            dimension,
            hidden // self.directions,
            batch_first=True,
            bidirectional=self.directions == 2,
        )

    def states(self, embedded: Tensor, lengths: Tensor) -> Tensor:
        """Return the hidden state at each token: (tokens, dimension) -> (tokens, hidden)."""
        longest = max(int(lengths.max()), 1)
        inside = torch.arange(longest, device=lengths.device) < lengths.unsqueeze(1)
        padded = embedded.new_zeros(len(lengths), longest, embedded.shape[1])
        padded[inside] = embedded
        # An empty sentence is one step of zeros, whose state is not among those returned.
        packed = pack_padded_sequence(
            padded, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
        )
        states, _ = pad_packed_sequence(
            self.lstm(packed)[0], batch_first=True, total_length=longest
        )
        return states[inside]

    def forward(self, vectors: Tensor, tokens: Tokens, dropout: float) -> Tensor:
        """Return the sentence vectors; shapes as in `Network.forward`."""
        ids, lengths = tokens
        embedded = functional.dropout(vectors[ids], dropout, training=dropout > 0)
        return _mean(self.states(embedded, lengths), lengths)


class Bidirectional(Recurrent, order_matters=True, sorted_by_length=True):
    """The mean of the hidden states of both directions, side by side."""

    directions = 2


class BidirectionalAverage(Recurrent, order_matters=True, sorted_by_length=True):
    """The mean of the hidden states of both directions, averaged: the BLSTM of ParaNMT.

    `hidden` is the size of each direction and of the sentence vector.
    """

    directions = 2

    def __init__(self, dimension: int, hidden: int):
        super().__init__(dimension, 2 * hidden)
        self.size = hidden

    def states(self, embedded: Tensor, lengths: Tensor) -> Tensor:
        """Return the mean of both directions' states: (tokens, dimension) -> (tokens, hidden)."""
        return super().states(embedded, lengths).unflatten(1, (2, self.size)).mean(1)


class GatedAverage(Recurrent, order_matters=True, sorted_by_length=True):
    """GRAN: the mean of the token vectors, each gated by the token and the LSTM's state there.

    a_t = x_t * sigmoid(W_x x_t + W_h h_t + b), and the sentence is the mean of a_t.
    """

    def __init__(self, dimension: int, hidden: int):
        super().__init__(dimension, hidden)
        self.size = dimension
        self.gate = nn.Linear(dimension + hidden, dimension)

    def forward(self, vectors: Tensor, tokens: Tokens, dropout: float) -> Tensor:
        """Return the sentence vectors; shapes as in `Network.forward`."""
        ids, lengths = tokens
        embedded = functional.dropout(vectors[ids], dropout, training=dropout > 0)
        states = self.states(embedded, lengths)
        gates = torch.sigmoid(self.gate(torch.cat([embedded, states], dim=1)))
        return _mean(embedded * gates, lengths)


class Entry(NamedTuple):
    """An encoder as a configuration names it.

    Attributes:
        encoder: the network: made with `dimension` and `hidden`, called as `Average` is.
        tokens: the kind of its tokens; None: the kind that the configuration says.
    """

    encoder: type[Encoder]
    tokens: str | None = None


# By their names in a configuration, `embeddings.<name>.model.encoders`.
ENCODERS: dict[str, Entry] = {
    "word": Entry(Average),
    "trigram": Entry(Average, tokens="trigrams"),
    "lstm": Entry(Recurrent),
    "blstm": Entry(Bidirectional),
    "blstm_average": Entry(BidirectionalAverage),
    "gran": Entry(GatedAverage),
}


class Network(nn.Module):
    """One or more encoders, each with its own table of token vectors; their outputs joined."""

    def __init__(
        self,
        encoders: Sequence[str],
        vocabularies: Sequence[int],
        dimension: int,
        hidden: int,
        combine: str,
    ):
        """Make a network whose tables are empty memory, to be filled.

        Args:
            encoders: names among `ENCODERS`.
            vocabularies: the number of tokens of each.
            dimension: of the token vectors.
            hidden: of the sentence vectors of LSTM and BLSTM, and of the states of GRAN.
            combine: "add" or "concatenate".
        """
        super().__init__()
        networks = [ENCODERS[name].encoder(dimension, hidden) for name in encoders]
        self.encoders = nn.ModuleList(networks)
        self.tables = nn.ParameterList(torch.empty(size, dimension) for size in vocabularies)
        self.combine = combine
        sizes = [encoder.size for encoder in networks]
        self.size = sizes[0] if combine == "add" else sum(sizes)
        self.sorted_by_length = any(encoder.sorted_by_length for encoder in networks)

    def forward(
        self,
        tokens: Sequence[Tokens],
        tables: Sequence[Tensor] | None = None,
        dropout: float = 0.0,
    ) -> Tensor:
        """Return the vectors of sentences, shape (sentences, size).

        Args:
            tokens: of each encoder.
            tables: the token vectors of each encoder, shape (vocabulary, dimension); None: its
                own.
            dropout: the share of the token vectors' numbers that is set to 0.
        """
        outputs = [
            encoder(table, ids, dropout)
            for encoder, table, ids in zip(
                self.encoders, tables or self.tables, tokens, strict=True
            )
        ]
        if len(outputs) == 1:
            return outputs[0]
        return torch.stack(outputs).sum(0) if self.combine == "add" else torch.cat(outputs, dim=1)
