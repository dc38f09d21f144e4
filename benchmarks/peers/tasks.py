"""What all systems of `bench_nmt` work on, and how their time is taken."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch

from workflow_scripts.nmt.automaton import Phrase
from workflow_scripts.nmt.vocabulary import SYMBOLS

# Tokens of every output: </s> is so improbable that outputs run to the maximum length.
OUTPUT_TOKENS = 20
# A source has one piece less, for </s>.
SOURCE_PIECES = OUTPUT_TOKENS - 1
# What the sampling draws from.
TOP_K = 10


@dataclass(frozen=True)
class Sentence:
    """A source of piece ids, and what is wanted of it.

    `avoid`: the phrases of every constraint set; `wanted`: a phrase that constrained beam search
    must write; `targets`: translations to be scored.
    """

    source: list[int]
    avoid: list[list[Phrase]]
    wanted: Phrase
    targets: list[list[int]]


class Shape(NamedTuple):
    """Of the random model; encoder and decoder alike."""

    layers: int
    size: int
    heads: int
    hidden: int
    vocabulary: int


class Timing(NamedTuple):
    """Output tokens, and the CPU seconds of all threads that they took."""

    tokens: int
    seconds: float


def pieces(ids: list[int] | Phrase) -> list[str]:
    """Return the pieces of a random model (`tests.unit.nmt.folders`)."""
    return [SYMBOLS[index] if index < len(SYMBOLS) else f"▁{index}" for index in ids]


def timed(action: Callable[[list[Sentence]], int]) -> Callable[[list[Sentence]], Timing]:
    """Take the CPU time of this process around an action that returns its output tokens."""

    def run(sentences: list[Sentence]) -> Timing:
        start = time.process_time()
        tokens = action(sentences)
        return Timing(tokens, time.process_time() - start)

    return run


def sockeye_weights(folder: Path) -> dict[str, torch.Tensor]:
    """Return the parameters of a Sockeye 3 model folder."""
    return torch.load(folder / "params.best", map_location="cpu", weights_only=True)


def separated(memory: torch.Tensor, heads: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Split key and value rows, interleaved per head by Sockeye, into two matrices [D, D]."""
    keys, values = memory.unflatten(0, (heads, 2, -1)).unbind(1)
    return keys.flatten(0, 1), values.flatten(0, 1)
