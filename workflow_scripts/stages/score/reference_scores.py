"""Score the references of a shard themselves, both ways, as their candidates are scored.

Their sums say what a sum means with the models at hand: what people wrote as translations of the
same sources.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import tee
from pathlib import Path
from typing import Any

import numpy as np
import torch

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device
from workflow_scripts.core.files.rows import PairRow, ReferenceRow, ReferenceScoreRow
from workflow_scripts.core.files.shard_frame import Input, Tally, write_shard
from workflow_scripts.nmt.options import SCORED_TOKENS
from workflow_scripts.stages.dual_filter.pair_scores import Direction, both_directions, score_pairs


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
    config: dict[str, Any],
    references: Path,
    forward: Path,
    backward: Path,
    output: Path,
    device: Device = "auto",
    batch_tokens: int = SCORED_TOKENS,
    threads: int = 1,
) -> None:
    """Score the references of a shard themselves, both ways.

    A `references` shard becomes a `reference_scores` shard. `forward` and `backward` are the
    folders of the models; `batch_tokens` target tokens are scored at once. Memory does not grow
    with the shard. The record counts as `unreadable` the references of an infinite sum.
    """
    torch.set_num_threads(threads)
    there, back = both_directions(forward, backward, device, config["precision"])
    total: Counter[str] = Counter()

    def scored(rows: Iterator[PairRow]) -> Iterator[ReferenceScoreRow]:
        for row in score_references(rows, there, back, batch_tokens):
            yield row
            total["unreadable"] += row["sum"] == np.inf

    tally = Tally(extra=total)
    rows = Input(references, ReferenceRow).rows()
    write_shard(rows, scored, output, ReferenceScoreRow, "score", tally, shown="written")


main = command(score_shard, __name__)
