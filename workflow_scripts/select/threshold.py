"""Find the threshold on the sum of both NLLs: a fixed one, or an exact quantile of all sums."""

import argparse
import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workflow_scripts.core.atomic import write_json
from workflow_scripts.core.cli import json_argument, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.manifest import shard_paths, verify, write_record
from workflow_scripts.core.progress import progress
from workflow_scripts.core.ranks import order_statistics
from workflow_scripts.core.tables import read_batches

# The record of the threshold, which has the suffix of a record itself: thresholding.json.
RECORD = "thresholding"


class Scores(NamedTuple):
    """Some candidates: the sums of those that have one, the forward NLLs of those pruned."""

    sums: NDArray[np.float32]  # nats
    pruned: NDArray[np.float32]  # nats: a lower bound of their sum


def threshold(scores: Callable[[], Iterable[Scores]], keep: dict[str, Any]) -> dict[str, Any]:
    """Return the threshold and how many candidates it keeps.

    Args:
        scores: gives a new pass over all distinct candidates at each call.
        keep: {"max_sum": nats}, or {"quantile": q} with 0 < q <= 1: the smallest sum such that
            at least the share q of all candidates is not above it. Pruned candidates count as
            above it.

    Returns:
        `keep`, `max_sum`, and the numbers `candidates`, `pruned` and `kept`. `max_sum` is None, no
        bound, where the quantile lies among candidates of an infinite sum, which the backward
        model can't read.

    Raises:
        InputError: there is no candidate, or one that was pruned might be below the threshold, or
            a score is NaN.
    """
    count = pruned = 0
    least_pruned = math.inf
    for some in scores():
        if np.isnan(some.sums).any() or np.isnan(some.pruned).any():
            raise InputError(
                "select: a candidate's NLL is NaN, which no threshold can be compared with; look "
                "at the models, and score again (snakemake --forcerun score)"
            )
        count += len(some.sums)
        pruned += len(some.pruned)
        least_pruned = min(least_pruned, float(some.pruned.min(initial=math.inf)))
    total = count + pruned
    if "max_sum" in keep:
        max_sum = float(keep["max_sum"])
    else:
        # The decimal in the config, not its nearest binary fraction: 0.07 of 100 is 7, not 8.
        quantile = Fraction(str(keep["quantile"]))
        rank = math.ceil(quantile * total)
        if total == 0:
            raise InputError("select.keep.quantile: there is no candidate to take a quantile of")
        if rank > count:
            raise _pruned_too_much(f"the quantile {keep['quantile']}")
        (max_sum,) = order_statistics(lambda: (some.sums for some in scores()), [max(rank, 1)])
    if max_sum > least_pruned:
        raise _pruned_too_much(f"the threshold {max_sum:.6g}")
    kept = sum(int(np.count_nonzero(some.sums <= max_sum)) for some in scores())
    return {
        "keep": keep,
        "max_sum": max_sum if math.isfinite(max_sum) else None,
        "candidates": total,
        "pruned": pruned,
        "kept": kept,
    }


def _pruned_too_much(what: str) -> InputError:
    return InputError(
        f"select.keep: {what} lies among candidates that the score stage pruned, whose sum is "
        "unknown; raise score.prune_above (or set it to null), or keep fewer"
    )


def read_scores(paths: list[Path]) -> Iterator[Scores]:
    """Yield the scores of all candidates of `scored` shards, batch by batch."""
    columns = ["candidates.list.element.sum", "candidates.list.element.forward_nll"]
    for path in paths:
        for batch in read_batches(path, "scored", columns, batch_size=256):
            candidates: pa.StructArray = batch.column("candidates").flatten()
            sums = candidates.field("sum")
            forward = candidates.field("forward_nll").to_numpy(zero_copy_only=False)
            known = sums.is_valid().to_numpy(zero_copy_only=False)
            yield Scores(sums.drop_null().to_numpy(), forward[~known])


def find_threshold(folder: Path, shards: int, output: Path, keep: dict[str, Any]) -> None:
    """Write the threshold for the `scored` shards of a folder as JSON."""
    paths = shard_paths(folder, shards)
    for path in paths:
        verify(path)

    def scores() -> Iterator[Scores]:
        return progress(
            read_scores(paths),
            desc="threshold, candidates",
            size=lambda some: len(some.sums) + len(some.pruned),
        )

    result = threshold(scores, keep)
    write_json(output, result)
    write_record(output.with_name(RECORD), 0, 0, {}, files=[output])


def main(argv: list[str] | None = None) -> None:
    """Find the threshold on the sum of both NLLs over all shards."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json_argument, required=True, help="JSON")
    parser.add_argument("--folder", type=Path, required=True, help="with shards of the score stage")
    parser.add_argument("--shards", type=int, required=True)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args(argv)
    find_threshold(arguments.folder, arguments.shards, arguments.output, arguments.config["keep"])


if __name__ == "__main__":
    run(main)
