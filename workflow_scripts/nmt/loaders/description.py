"""What a loader returns."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from torch import Tensor

from workflow_scripts.nmt.network import Network
from workflow_scripts.nmt.vocabulary import Vocabulary


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
    """The parameters of a model, and the vocabularies of its source and target.

    `network`: of the parameters, where it was needed to read them.
    """

    raw: Raw
    source_vocab: Vocabulary
    target_vocab: Vocabulary
    network: Network | None = None


@dataclass(frozen=True)
class Summary:
    """What is known of a model without its weights: its size, or why it can't be loaded.

    `layers` and `vocabulary` are those of source and target.
    """

    layers: tuple[int, int] | None = None
    size: int | None = None
    vocabulary: tuple[int, int] | None = None
    refused: list[str] = field(default_factory=list)
