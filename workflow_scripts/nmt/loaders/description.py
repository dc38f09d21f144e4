"""What a loader returns."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from torch import Tensor

from workflow_scripts.nmt.network import Network
from workflow_scripts.nmt.vocabulary import Vocabulary


class Loaded(NamedTuple):
    """A network, as it is in the file, and the vocabularies of its source and target."""

    network: Network
    source_vocab: Vocabulary
    target_vocab: Vocabulary


class Raw(NamedTuple):
    """The parameters of a model as its file has them, and what makes a network of them.

    `tensors`: by their names in the file; `fixed`: the names of those that are computed, not
    trained; `build`: makes a network of tensors of these names and shapes. Gradients of the network
    reach the tensors.
    """

    tensors: dict[str, Tensor]
    fixed: frozenset[str]
    build: Callable[[dict[str, Tensor]], Network]


class Opened(NamedTuple):
    """The parameters of a model, and the vocabularies of its source and target."""

    raw: Raw
    source_vocab: Vocabulary
    target_vocab: Vocabulary

    def loaded(self) -> Loaded:
        """Return the network with the vocabularies."""
        return Loaded(self.raw.build(self.raw.tensors), self.source_vocab, self.target_vocab)


@dataclass(frozen=True)
class Summary:
    """What is known of a model without its weights: its size, or why it can't be loaded.

    `layers` and `vocabulary` are those of source and target.
    """

    layers: tuple[int, int] | None = None
    size: int | None = None
    vocabulary: tuple[int, int] | None = None
    refused: list[str] = field(default_factory=list)
