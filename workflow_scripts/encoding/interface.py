"""What one knows of a finished encoder without loading it: its record, and what it can be asked."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

# The record `model.json` speaks for all files in the folder of an embedding or of an encoder.
RECORD = "model"
# The layers whose vectors of tokens are read: the last one, the one below it, and the next.
LAYERS = 3


class Encoder(Protocol):
    """Turns sentences into vectors."""

    def encode(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors, shape (sentences, size); zeros where a sentence has no known token."""


class Read(NamedTuple):
    """A sentence as an encoder reads it."""

    tokens: NDArray[np.float32]
    """Vectors of its tokens, shape (LAYERS, tokens, size), without marks of beginning and end."""
    sentence: NDArray[np.float32]
    """The vector of the sentence, shape (size,)."""


@runtime_checkable
class TokenEncoder(Protocol):
    """An encoder that gives vectors of tokens, too."""

    def read(self, sentences: Sequence[str]) -> list[Read]:
        """Return the vectors of each sentence and of its tokens."""
