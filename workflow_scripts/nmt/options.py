"""Command-line options that all stages with a model have."""

import argparse
from typing import NamedTuple

import torch


class Batch(NamedTuple):
    """The option that sets how much is computed at once."""

    option: str
    default: int
    what: str


# How much is computed at once, where nothing else is said: hypotheses, and target tokens.
SEARCHED_ROWS, SCORED_TOKENS = 512, 4096
SEARCH_BATCH = Batch("--batch-rows", SEARCHED_ROWS, "hypotheses at once")
SCORING_BATCH = Batch("--batch-tokens", SCORED_TOKENS, "target tokens at once")


def parse_with_compute(
    parser: argparse.ArgumentParser, argv: list[str] | None, batch: Batch
) -> argparse.Namespace:
    """Add the options of device, batch and threads, parse, and set torch's threads.

    Args:
        parser: with the options of the stage itself.
        argv: the command line; None for that of the process.
        batch: of the search or the scoring that the stage does.
    """
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    parser.add_argument(batch.option, type=int, default=batch.default, help=batch.what)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args(argv)
    torch.set_num_threads(arguments.threads)
    return arguments
