"""Find the threshold on the sum of both NLLs: a fixed one, or an exact quantile.

The quantile is one of all candidates' sums, or of the sums of the references themselves. Where a
judge has its say, the threshold has a bound on its probability besides.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.manifest import shard_paths, verify, verify_file, write_record
from workflow_scripts.core.files.parquet import read_batches
from workflow_scripts.core.files.rows import ReferenceScoreRow, ScoredRow
from workflow_scripts.core.progress import progress
from workflow_scripts.core.statistics.order_statistics import (
    Passes,
    order_statistics,
    quantile_rank,
)
from workflow_scripts.stages.select.checks import PROBABILITIES
from workflow_scripts.stages.select.probability import probability_bound, read_judged

# The record of the threshold, which has the suffix of a record itself: thresholding.json.
RECORD = "thresholding"


class Scores(NamedTuple):
    """Some candidates: the sums of those that have one, the forward NLLs of those pruned."""

    sums: NDArray[np.float32]  # nats
    pruned: NDArray[np.float32]  # nats: a lower bound of their sum


def threshold(
    scores: Callable[[], Iterable[Scores]],
    keep: dict[str, Any],
    references: Passes | None = None,
) -> dict[str, Any]:
    """Return the threshold and how many candidates it keeps.

    Args:
        scores: gives a new pass over all distinct candidates at each call.
        keep: {"max_sum": nats}; or {"quantile": q} with 0 < q <= 1: the smallest sum such that
            at least the share q of all candidates is not above it, where pruned candidates count
            as above it; or {"reference_quantile": q}: the same of the references' own sums; or
            none of them: the sum has no bound, and only a judge's probability has one.
        references: gives a new pass over the sums of all references at each call, infinite for
            those that a model can't read; needed for the last kind.

    Returns:
        `keep`, `max_sum`, and the numbers `candidates`, `pruned` and `kept`; for the last kind also
        `references`, what `reference_bound` returns. `max_sum` is None where there is no bound, or
        the quantile lies among candidates of an infinite sum, which the backward model can't read.

    Raises:
        InputError: there is no candidate, or one that was pruned might be below the threshold, or
            a score is NaN, or the references have no such quantile.
    """
    more: dict[str, Any] = {}
    count = pruned = 0
    least_pruned = math.inf
    for batch in scores():
        if np.isnan(batch.sums).any() or np.isnan(batch.pruned).any():
            raise InputError(
                "select: a candidate's NLL is NaN, which no threshold can be compared with; look "
                "at the models, and score again (snakemake --forcerun score)"
            )
        count += len(batch.sums)
        pruned += len(batch.pruned)
        least_pruned = min(least_pruned, float(batch.pruned.min(initial=math.inf)))
    total = count + pruned
    if "max_sum" in keep:
        max_sum = float(keep["max_sum"])
    elif "reference_quantile" in keep:
        if references is None:
            raise InputError("select.keep.reference_quantile needs --references")
        more["references"] = reference_bound(references, keep["reference_quantile"])
        max_sum = more["references"]["max_sum"]
    elif "quantile" in keep:
        rank = quantile_rank(keep["quantile"], total)
        if total == 0:
            raise InputError("select.keep.quantile: there is no candidate to take a quantile of")
        if rank > count:
            raise _pruned_too_much(f"the quantile {keep['quantile']}")
        (max_sum,) = order_statistics(lambda: (batch.sums for batch in scores()), [rank])
    else:  # what was pruned is out, as it was not judged
        max_sum = least_pruned = math.inf
    if max_sum > least_pruned:
        raise _pruned_too_much(f"the threshold {max_sum:.6g}")
    kept = sum(int(np.count_nonzero(batch.sums <= max_sum)) for batch in scores())
    return {
        "keep": keep,
        "max_sum": max_sum if math.isfinite(max_sum) else None,
        "candidates": total,
        "pruned": pruned,
        "kept": kept,
        **more,
    }


def reference_bound(sums: Passes, quantile: float) -> dict[str, Any]:
    """Return the bound that a share of the references does not exceed.

    Args:
        sums: gives a new pass over the sums of all references at each call, in nats.
        quantile: the share q, 0 < q <= 1.

    Returns:
        `max_sum`, the smallest sum such that at least the share q of all references is not above
        it, and the numbers `references` and `unreadable`, those of an infinite sum.

    Raises:
        InputError: there is no reference, or a sum is NaN, or the quantile lies among those that
            a model can't read.
    """
    count, unreadable = count_sums(sums)
    key = "select.keep.reference_quantile"
    if count == unreadable:
        raise InputError(f"{key}: there is no reference that the models can read; use max_sum")
    rank = quantile_rank(quantile, count)
    if rank > count - unreadable:
        most = math.floor(1000 * (count - unreadable) / count) / 1000
        raise InputError(
            f"{key}: {quantile} lies among the {unreadable} of {count} references that a model "
            f"can't read, and so is no bound; give {most} at most"
        )
    (max_sum,) = order_statistics(sums, [rank])
    return {"max_sum": max_sum, "references": count, "unreadable": unreadable}


def count_sums(sums: Passes) -> tuple[int, int]:
    """Return how many sums there are, and how many of them are infinite.

    Raises:
        InputError: one is NaN.
    """
    count = unreadable = 0
    for chunk in sums():
        if np.isnan(chunk).any():
            raise InputError(
                "score: a reference's NLL is NaN; look at the models, and score again "
                "(snakemake --forcerun score)"
            )
        count += len(chunk)
        unreadable += int(np.isinf(chunk).sum())
    return count, unreadable


def _pruned_too_much(what: str) -> InputError:
    return InputError(
        f"select.keep: {what} lies among candidates that the score stage pruned, whose sum is "
        "unknown; raise score.prune_above (or set it to null), or keep fewer"
    )


def read_scores(paths: list[Path]) -> Iterator[Scores]:
    """Yield the scores of all candidates of `scored` shards, batch by batch."""
    columns = ["candidates.list.element.sum", "candidates.list.element.forward_nll"]
    for path in paths:
        for batch in read_batches(path, ScoredRow, columns, batch_size=256):
            candidates: pa.StructArray = batch.column("candidates").flatten()
            sums = candidates.field("sum")
            forward = candidates.field("forward_nll").to_numpy(zero_copy_only=False)
            known = sums.is_valid().to_numpy(zero_copy_only=False)
            yield Scores(sums.drop_null().to_numpy(), forward[~known])


def read_reference_sums(paths: list[Path]) -> Iterator[NDArray[np.float32]]:
    """Yield the sums of all references of `reference_scores` shards, batch by batch."""
    for path in paths:
        for batch in read_batches(path, ReferenceScoreRow, ["sum"], batch_size=65536):
            yield batch.column("sum").to_numpy()


def find_threshold(
    config: dict[str, Any],
    folder: Path,
    shards: int,
    output: Path,
    references: Path | None = None,
    judged: Path | None = None,
    judge: Path | None = None,
) -> None:
    """Find the threshold for the `scored` shards of a folder, and write it as JSON.

    Args:
        config: of the unit, whose `keep` says what kind of threshold it is.
        folder: with the shards.
        references: a folder with as many `reference_scores` shards; only a quantile of the
            references needs it.
        judged: a folder with as many `judged` shards, where a judge has its say. The threshold then
            has `probability`, what `probability_bound` returns.
        judge: judge.json, which a bound of wanted precision needs.
    """
    keep = config["keep"]
    paths = shard_paths(folder, shards)
    reference_paths = shard_paths(references, shards) if references else []
    judged_paths = shard_paths(judged, shards) if judged else []
    for path in (*paths, *reference_paths, *judged_paths):
        verify(path)
    if judge is not None:
        verify_file(judge, "fitting")

    def scores() -> Iterator[Scores]:
        return progress(
            read_scores(paths),
            desc="threshold, candidates",
            size=lambda batch: len(batch.sums) + len(batch.pruned),
        )

    sums = partial(read_reference_sums, reference_paths) if references else None
    result = threshold(scores, keep, sums)
    if any(key in keep for key in PROBABILITIES):
        rows = partial(read_judged, paths, judged_paths)
        max_sum = math.inf if result["max_sum"] is None else result["max_sum"]
        result["probability"] = probability_bound(rows, keep, max_sum, judge)
    write_json(output, result)
    write_record(output.with_name(RECORD), 0, 0, {}, files=[output])


main = command(find_threshold, __name__)
