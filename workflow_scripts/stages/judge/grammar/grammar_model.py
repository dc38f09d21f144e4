"""The grammar model: the log-odds that a sentence is as people write them.

A folder of it has `grammar.json` (what it is, its vocabulary, where it comes from),
`grammar.safetensors` (the weights, tables of words as bytes with a scale for each row) and a
record of both, `model.json`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import atomic_path, write_json
from workflow_scripts.core.files.manifest import read_json, verify, write_record
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.stages.judge.grammar.convolutions import (
    EDGE,
    FIRST_WORD,
    PADDING,
    UNKNOWN,
    Batch,
    Network,
)
from workflow_scripts.stages.judge.grammar.known_tokens import OTHER, grams, normal, shape, tokens
from workflow_scripts.stages.judge.grammar.sequences import Seen, hashes

DESCRIPTION, WEIGHTS, RECORD = "grammar.json", "grammar.safetensors", "model"
# The models that come with the project, by their names.
SHIPPED = {"english": Path(__file__).with_name("english")}
# Sentences of one call of the network, and the lengths that they are padded to: with the same
# shapes, a sentence gets the same figure whatever stands beside it.
_ROWS = 64
_LONGEST_STEP = 64
# Tables of words: bytes and a scale a row.
_TABLES = ("words.weight", "grams.weight")
_SCALE = ".scale"
_SEEN = "seen"


class Encoding:
    """Turns tokens into numbers.

    Args:
        vocabulary: known words in normal form, by their numbers.
        buckets: of n-grams of letters.
        seen: which sequences of words were seen.
    """

    def __init__(self, vocabulary: Sequence[str], buckets: int, seen: Seen):
        self.vocabulary, self.buckets, self.seen = list(vocabulary), buckets, seen
        self._numbers = {word: number for number, word in enumerate(vocabulary, FIRST_WORD)}

    def batch(self, sentences: Sequence[Sequence[str]], length: int | None = None) -> Batch:
        """Return sentences of tokens as numbers, padded to `length` or the longest."""
        length = length or max(map(len, sentences)) + 2
        places: dict[str, int] = {}
        types = np.zeros((len(sentences), length), np.int64)  # 0 is padding, 1 an edge
        shapes = np.full((len(sentences), length), OTHER, np.int64)
        hashed = np.zeros((len(sentences), length), np.uint64)
        for row, sentence in enumerate(sentences):
            stop = len(sentence) + 1
            words = [normal(token) for token in sentence]
            types[row, 0] = types[row, stop] = 1
            types[row, 1:stop] = [places.setdefault(word, len(places) + 2) for word in words]
            shapes[row, 1:stop] = [shape(token) for token in sentence]
            hashed[row] = hashes(words, length)
        spelt = [(0,), (0,), *(grams(word, self.buckets) for word in places)]
        offsets = np.cumsum([0, *map(len, spelt[:-1])])
        return Batch(
            torch.from_numpy(types),
            torch.from_numpy(shapes),
            torch.tensor([PADDING, EDGE, *(self._numbers.get(w, UNKNOWN) for w in places)]),
            torch.tensor([gram for numbers in spelt for gram in numbers]),
            torch.from_numpy(offsets),
            torch.from_numpy(self.seen.features(hashed)),
        )


class Grammar:
    """A trained model.

    Attributes:
        description: what it is and where it comes from, as `grammar.json` has it.
    """

    def __init__(self, network: Network, encoding: Encoding, description: Mapping[str, Any]):
        self.description = dict(description)
        self._network, self._encoding = network.eval().requires_grad_(False), encoding

    def log_odds(self, sentences: Sequence[str]) -> NDArray[np.float64]:
        """Return the log-odds of each sentence to be sound, shape (sentences,); higher is better.

        They depend on the sentence alone, and not on those beside it.
        """
        return self.of_tokens([tokens(sentence) for sentence in sentences])

    def of_tokens(self, sentences: Sequence[Sequence[str]]) -> NDArray[np.float64]:
        """Return the log-odds of sentences that are given as tokens."""
        result = np.zeros(len(sentences))
        by_length: dict[int, list[int]] = {}
        for number, sentence in enumerate(sentences):
            by_length.setdefault(_padded(len(sentence) + 2), []).append(number)
        for length, numbers in sorted(by_length.items()):
            for start in range(0, len(numbers), _ROWS):
                chosen = numbers[start : start + _ROWS]
                filled = [sentences[number] for number in chosen]
                filled += [()] * (_ROWS - len(filled))
                with torch.inference_mode():
                    sound, _ = self._network(self._encoding.batch(filled, length))
                result[chosen] = sound[: len(chosen)].double().numpy()
        return result.round(DECIMALS - 1)

    def save(self, folder: Path) -> None:
        """Write the model and its record."""
        folder.mkdir(parents=True, exist_ok=True)
        vocabulary = self._encoding.vocabulary
        write_json(folder / DESCRIPTION, {**self.description, "vocabulary": vocabulary})
        with atomic_path(folder / WEIGHTS) as temporary:
            seen = torch.from_numpy(self._encoding.seen.table)
            temporary.write_bytes(save({**_packed(self._network.state_dict()), _SEEN: seen}))
        files = [folder / DESCRIPTION, folder / WEIGHTS]
        write_record(folder / RECORD, 0, 0, {}, files=files)

    @classmethod
    def load(cls, model: str | Path) -> Self:
        """Read a folder that `save` wrote, or a model that ships, by its name.

        Raises:
            InputError: there is none, or its files are not what was written.
        """
        folder = SHIPPED.get(str(model), Path(model))
        if not folder.is_dir():
            raise InputError(
                f"{model}: no folder of a grammar model; give one that "
                f"paraloom train grammar wrote, or {' or '.join(SHIPPED)}"
            )
        verify(folder / RECORD)
        description = read_json(folder / DESCRIPTION, RECORD)
        weights = load_file(folder / WEIGHTS)
        seen = Seen(weights.pop(_SEEN).numpy())
        encoding = Encoding(description.pop("vocabulary"), description["network"]["buckets"], seen)
        network = Network(len(encoding.vocabulary), **description["network"])
        network.load_state_dict(_unpacked(weights))
        return cls(network, encoding, description)


def _padded(length: int) -> int:
    """Return the length that sentences of `length` tokens are padded to."""
    step = next((step for step in (8, 16, 32) if length <= 2 * step), _LONGEST_STEP)
    return -(-length // step) * step


def _packed(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights as they are stored: half precision, tables as bytes."""
    packed = {}
    for name, value in state.items():
        if name in _TABLES:
            scale = value.abs().amax(dim=1, keepdim=True).clamp(min=1e-8) / 127
            packed[name] = (value / scale).round().to(torch.int8)
            packed[name + _SCALE] = scale.half()
        else:
            packed[name] = value.half().contiguous()
    return packed


def _unpacked(packed: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {
        name: value.float() * packed[name + _SCALE].float() if name in _TABLES else value.float()
        for name, value in packed.items()
        if not name.endswith(_SCALE)
    }
