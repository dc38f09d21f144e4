"""Score the references of a shard themselves, both ways, as their candidates are scored.

Their sums say what a sum means with the models at hand: what people wrote as translations of the
same sources.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import tee
from pathlib import Path
from typing import Any

import numpy as np

from workflow_scripts.core.cli import json_argument, run
from workflow_scripts.core.files.rows import PairRow, ReferenceRow, ReferenceScoreRow
from workflow_scripts.core.files.shard_frame import Input, Tally, write_shard
from workflow_scripts.nmt.options import SCORING_BATCH, parse_with_compute
from workflow_scripts.stages.dual_filter.pair_scores import Direction, score_pairs


def score_references(
    rows: Iterable[PairRow], forward: Direction, backward: Direction, batch_tokens: int
) -> Iterator[ReferenceScoreRow]:
    """Yield the NLLs of every reference and their sum, as fp32 holds them, in order.

    The forward NLL is that of the reference, given its source; the backward NLL that of the source,
    given the reference; both of the Viterbi segmentations, in nats per target token. An NLL is
    infinite where a side is longer than the model takes.
    """
    rows, to_score = tee(rows)
    scores = score_pairs(to_score, forward, backward, batch_tokens)
    for row, scored in zip(rows, scores, strict=True):
        forward_nll = np.float32(scored["forward_nll"])
        backward_nll = np.float32(scored["backward_nll"])
        yield {
            "id": row["id"],
            "corpus": row["corpus"],
            "forward_nll": float(forward_nll),
            "backward_nll": float(backward_nll),
            "sum": float(forward_nll + backward_nll),
        }


def score_shard(
    input_path: Path, forward: Direction, backward: Direction, output: Path, batch_tokens: int
) -> None:
    """Stream a `references` shard into a `reference_scores` shard with its record.

    Memory does not grow with the shard. The record counts as `unreadable` the references of an
    infinite sum.
    """
    total: Counter[str] = Counter()

    def scored(rows: Iterator[PairRow]) -> Iterator[ReferenceScoreRow]:
        for row in score_references(rows, forward, backward, batch_tokens):
            yield row
            total["unreadable"] += row["sum"] == np.inf

    references = Input(input_path, ReferenceRow).rows()
    tally = Tally(extra=total)
    write_shard(references, scored, output, ReferenceScoreRow, "score", tally, shown="written")


def main(argv: list[str] | None = None) -> None:
    """Score the references of a shard themselves, both ways."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json_argument, required=True, help="JSON")
    parser.add_argument("--input", type=Path, required=True, help="shard of references")
    parser.add_argument("--forward", type=Path, required=True, help="folder of that model")
    parser.add_argument("--backward", type=Path, required=True, help="folder of that model")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parse_with_compute(parser, argv, SCORING_BATCH)
    config: dict[str, Any] = arguments.config
    on = {"device": arguments.device, "precision": config["precision"]}
    score_shard(
        arguments.input,
        Direction(arguments.forward, "source", "reference", **on),
        Direction(arguments.backward, "reference", "source", **on),
        arguments.output,
        arguments.batch_tokens,
    )


if __name__ == "__main__":
    run(main)
