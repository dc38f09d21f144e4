"""Networks that tell references from translations (BT17 5.6.1): mean word vectors, or an LSTM."""

import io
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from workflow_scripts.core.files.atomic import atomic_path, write_json
from workflow_scripts.core.files.manifest import read_json, verify
from workflow_scripts.core.text.word_tokens import DROPPED, TOKENISERS
from workflow_scripts.stages.filter.classifier_files import METRICS, RECORD, VOCABULARY, WEIGHTS
from workflow_scripts.stages.filter.sample import Place, is_learnt

UNKNOWN, PADDING = 1, 0
_FIRST = 2  # number of the most frequent word

# Sentences in one call of the network.
BATCH = 1024


class Average(nn.Module):
    """Logit of the mean of the word vectors."""

    def __init__(self, words: int, size: int):
        super().__init__()
        self.embedding = nn.Embedding(words, size, padding_idx=PADDING)
        self.output = nn.Linear(size, 1)

    def forward(self, numbers: Tensor, lengths: Tensor) -> Tensor:
        """Return logits, shape (sentences,), of padded `numbers`, shape (sentences, words)."""
        total = self.embedding(numbers).sum(dim=1)
        return self.output(total / lengths.unsqueeze(1)).squeeze(1)


class LastState(nn.Module):
    """Logit of the last state of an LSTM over the word vectors."""

    def __init__(self, words: int, size: int):
        super().__init__()
        self.embedding = nn.Embedding(words, size, padding_idx=PADDING)
        self.lstm = nn.LSTM(size, size, batch_first=True)
        self.output = nn.Linear(size, 1)

    def forward(self, numbers: Tensor, lengths: Tensor) -> Tensor:
        """Return logits, shape (sentences,), of padded `numbers`, shape (sentences, words)."""
        states, _ = self.lstm(self.embedding(numbers))
        return self.output(states[torch.arange(len(numbers)), lengths - 1]).squeeze(1)


NETWORKS: dict[str, type[Average] | type[LastState]] = {"average": Average, "lstm": LastState}


class Classifier:
    """A network with the vocabulary that it was made for."""

    def __init__(self, kind: str, size: int, vocabulary: list[str], punctuation: str = DROPPED):
        """Make a network whose weights follow from torch's present seed."""
        self.config: dict[str, Any] = {"network": kind, "size": size}
        if punctuation != DROPPED:
            self.config["punctuation"] = punctuation
        self.split = TOKENISERS[punctuation]
        self.vocabulary = vocabulary
        self._numbers = {word: number for number, word in enumerate(vocabulary, _FIRST)}
        self.network: Average | LastState = NETWORKS[kind](len(vocabulary) + _FIRST, size)

    def batch(self, sentences: list[list[str]]) -> tuple[Tensor, Tensor]:
        """Return padded numbers and lengths; a sentence without words is one unknown word."""
        rows = [
            [self._numbers.get(word, UNKNOWN) for word in words] or [UNKNOWN] for words in sentences
        ]
        lengths = torch.tensor([len(row) for row in rows])
        numbers = torch.full((len(rows), int(lengths.max())), PADDING)
        for row, place in zip(rows, numbers, strict=True):
            place[: len(row)] = torch.tensor(row)
        return numbers, lengths

    @torch.no_grad()
    def start_from(self, vectors: dict[str, NDArray[np.float32]]) -> None:
        """Set the vectors of some words of the vocabulary."""
        for word, vector in vectors.items():
            self.network.embedding.weight[self._numbers[word]] = torch.from_numpy(vector)

    def learnt(self, seed: int, last: Place) -> None:
        """Keep the place of the last reference, in the seeded order, that it has learnt."""
        self.config["learnt"] = [seed, last[0], last[1]]

    def has_learnt(self, reference: str) -> bool:
        """Tell whether it was trained or chosen on a reference; False where that is not known."""
        return "learnt" in self.config and is_learnt(self.config["learnt"], reference)

    @torch.no_grad()
    def probabilities(self, sentences: list[list[str]]) -> NDArray[np.float32]:
        """Return the probability of each sentence, given as words, to be a reference."""
        self.network.eval()
        result = np.zeros(len(sentences), np.float32)
        # Sentences of like length together: less padding.
        order = np.argsort([len(words) for words in sentences], kind="stable")
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            logits = self.network(*self.batch([sentences[index] for index in chosen]))
            result[chosen] = torch.sigmoid(logits).numpy()
        return result

    def save(self, folder: Path, metrics: dict[str, Any]) -> list[Path]:
        """Write the model and its metrics; return the files."""
        content = io.BytesIO()  # the name of a file would be in its bytes
        torch.save(self.network.state_dict(), content)
        with atomic_path(folder / WEIGHTS) as temporary:
            temporary.write_bytes(content.getvalue())
        write_json(folder / VOCABULARY, {**self.config, "words": self.vocabulary})
        write_json(folder / METRICS, metrics)
        return [folder / name for name in (WEIGHTS, VOCABULARY, METRICS)]

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote, after it is verified."""
        verify(folder / RECORD)
        described = read_json(folder / VOCABULARY, RECORD)
        punctuation = described.get("punctuation", DROPPED)
        classifier = cls(described["network"], described["size"], described["words"], punctuation)
        if "learnt" in described:
            classifier.config["learnt"] = described["learnt"]
        weights = torch.load(folder / WEIGHTS, weights_only=True)
        classifier.network.load_state_dict(weights)
        return classifier


def frequent_words(sentences: Iterable[list[str]], size: int) -> list[str]:
    """Return the most frequent words; of equally frequent ones the first in order."""
    counts = Counter(word for words in sentences for word in words)
    return sorted(counts, key=lambda word: (-counts[word], word))[:size]
