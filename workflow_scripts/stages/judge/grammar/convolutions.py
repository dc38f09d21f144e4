"""The network of the grammar model: convolutions over words, which are spelt as well as known."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from workflow_scripts.stages.judge.grammar.known_tokens import SHAPES
from workflow_scripts.stages.judge.grammar.sequences import FEATURES

# Of the tokens of a batch: none, the edges of a sentence, words that the vocabulary lacks.
PADDING, EDGE, UNKNOWN, FIRST_WORD = 0, 1, 2, 3
_SHAPE_SIZE = 8
_WIDTH = 3


class Batch(NamedTuple):
    """Sentences as numbers; each has its edges, and padding after the last one.

    Attributes:
        types: which of the batch's distinct tokens stand where, (sentences, tokens).
        shapes: how they are written, (sentences, tokens).
        words: number of each distinct token in the vocabulary, (distinct,).
        grams: n-grams of letters of all distinct tokens, one after the other.
        offsets: where the n-grams of each begin, (distinct,).
        seen: how often the sequences at each token were seen, (sentences, tokens, FEATURES).
    """

    types: Tensor
    shapes: Tensor
    words: Tensor
    grams: Tensor
    offsets: Tensor
    seen: Tensor


class Layer(nn.Module):
    """A convolution over neighbours some steps apart, added to what it is given."""

    def __init__(self, size: int, dilation: int):
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.convolution = nn.Conv1d(size, size, _WIDTH, padding=dilation, dilation=dilation)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Return states, shape (sentences, tokens, size)."""
        inputs = (self.norm(states) * mask).transpose(1, 2)
        return states + functional.gelu(self.convolution(inputs).transpose(1, 2)) * mask


class Network(nn.Module):
    """Logits of a sentence to be sound, and of each token to be wrong."""

    def __init__(
        self, vocabulary: int, buckets: int, embedding: int, hidden: int, dilations: list[int]
    ):
        super().__init__()
        self.words = nn.Embedding(vocabulary + FIRST_WORD, embedding, padding_idx=PADDING)
        self.grams = nn.EmbeddingBag(buckets, embedding, mode="mean")
        self.shapes = nn.Embedding(SHAPES, _SHAPE_SIZE)
        self.entry = nn.Linear(2 * embedding + _SHAPE_SIZE + 2 * FEATURES, hidden)
        self.layers = nn.ModuleList(Layer(hidden, dilation) for dilation in dilations)
        self.norm = nn.LayerNorm(hidden)
        self.wrong = nn.Linear(hidden, 1)
        self.sound = nn.Linear(2 * hidden + 1, 1)
        for table in (self.words, self.grams):
            nn.init.normal_(table.weight, std=0.1)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return logits: of the sentences, shape (sentences,), and of the tokens.

        Those of the tokens have shape (sentences, tokens), the edges among them.
        """
        words = self.words(batch.words)
        spelt = self.grams(batch.grams, batch.offsets)
        entries = torch.cat([words, spelt], dim=1)[batch.types]
        present = (batch.words[batch.types] != PADDING).unsqueeze(2)
        mask = present.float()
        known = (batch.seen > 0).float()
        entries = torch.cat([entries, self.shapes(batch.shapes), batch.seen, known], dim=2)
        states = self.entry(entries) * mask
        for layer in self.layers:
            states = layer(states, mask)
        states = self.norm(states)
        wrong = self.wrong(states).squeeze(2)
        hidden = functional.gelu(states)
        most = hidden.masked_fill(~present, -torch.inf).amax(dim=1)
        mean = (hidden * mask).sum(dim=1) / mask.sum(dim=1)
        worst = wrong.masked_fill(~present.squeeze(2), -torch.inf).logsumexp(dim=1, keepdim=True)
        sound = self.sound(torch.cat([most, mean, worst], dim=1)).squeeze(1)
        return sound, wrong
