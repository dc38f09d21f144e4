"""What a loader returns."""

from dataclasses import dataclass, field
from typing import NamedTuple

from workflow_scripts.nmt.network import Network
from workflow_scripts.nmt.vocabulary import Vocabulary


class Loaded(NamedTuple):
    """A network, as it is in the file, and the vocabularies of its source and target."""

    network: Network
    source_vocab: Vocabulary
    target_vocab: Vocabulary


@dataclass(frozen=True)
class Summary:
    """What can be told of a model: its size, or why it can't be loaded.

    `layers` and `vocabulary` are those of source and target.
    """

    layers: tuple[int, int] | None = None
    size: int | None = None
    vocabulary: tuple[int, int] | None = None
    refused: list[str] = field(default_factory=list)
