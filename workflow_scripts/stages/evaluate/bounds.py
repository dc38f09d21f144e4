"""What every bound on the sum of both NLLs would keep of a system's candidates.

The references' own sums say what a bound means: they are what people wrote as translations of the
same sources, scored by the same models.
"""

import heapq
import math
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from workflow_scripts.core.command import command
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.manifest import read_json, shard_paths, verify, write_record
from workflow_scripts.core.files.parquet import read_batches
from workflow_scripts.core.files.rows import JudgedRow, ReferenceScoreRow, ScoredRow
from workflow_scripts.core.progress import progress
from workflow_scripts.core.seeding import fraction
from workflow_scripts.core.statistics.order_statistics import order_statistics, quantile_rank
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.core.text.normalisation import letters_and_digits
from workflow_scripts.stages.evaluate.diversity import ORDERS, bleu_counts, one_minus_bleu, sentence
from workflow_scripts.stages.evaluate.doubts import doubts
from workflow_scripts.stages.evaluate.stage import BOUNDS_SAMPLE
from workflow_scripts.stages.select.threshold import RECORD as THRESHOLD_RECORD
from workflow_scripts.stages.select.threshold import count_sums
from workflow_scripts.stages.train.doubts import ADVICE

RowT = TypeVar("RowT", ScoredRow, JudgedRow)
# The record of bounds.json: bounding.json, as bounds.json itself looks like a record.
RECORD = "bounding"
# Of the references' own sums, each of which is a bound too.
QUANTILES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
# The other bounds: 0.1, 0.2 ... nats.
STEPS_PER_NAT = 10
STEPS = 100


def own_quantiles(parts: Iterable[Path], corpora: set[str] | None) -> dict[str, Any]:
    """Return the exact quantiles of the sums of some references, in flat memory.

    Args:
        parts: `reference_scores` shards.
        corpora: whose references count; None for all.

    Returns:
        The numbers `references` and `unreadable` (of an infinite sum), and `quantiles`: each with
        its `max_sum`, None where it lies among the unreadable ones.
    """
    parts = list(parts)

    def sums() -> Iterator[NDArray[np.float32]]:
        for path in parts:
            for batch in read_batches(path, ReferenceScoreRow, ["corpus", "sum"], 65536):
                if corpora is not None:
                    wanted = pa.array(sorted(corpora), pa.string())
                    batch = batch.filter(pc.is_in(batch.column("corpus"), value_set=wanted))
                yield batch.column("sum").to_numpy()

    count, unreadable = count_sums(sums)
    ranks = [quantile_rank(quantile, count) for quantile in QUANTILES]
    totals = order_statistics(sums, ranks) if count else [math.inf] * len(QUANTILES)
    return {
        "references": count,
        "unreadable": unreadable,
        "quantiles": [
            {"quantile": quantile, "max_sum": total if math.isfinite(total) else None}
            for quantile, total in zip(QUANTILES, totals, strict=True)
        ],
    }


def sampled(shards: list[Path], seed: int, row: type[RowT], count: int) -> Iterator[RowT]:
    """Yield at most `count` rows of a kind, drawn by their ids, in flat memory.

    Shards of the same references give the same sample.
    """
    ids = (
        identifier
        for path in shards
        for batch in read_batches(path, row, ["id"])
        for identifier in batch.column("id").to_pylist()
    )
    drawn = heapq.nsmallest(count, ids, key=lambda identifier: fraction(seed, "bounds", identifier))
    chosen = pa.array(drawn, pa.string())
    for path in shards:
        for batch in read_batches(path, row, batch_size=64):
            yield from batch.filter(pc.is_in(batch.column("id"), value_set=chosen)).to_pylist()


def curve(rows: Iterable[ScoredRow], bounds: list[float]) -> dict[str, Any]:
    """Return what each bound keeps of the candidates.

    Args:
        rows: references with their scored candidates.
        bounds: in nats, ascending.

    Returns:
        The numbers `references` and `candidates`, and `bounds`, up to the first one above which a
        pruned candidate might be: each with its `max_sum`; `kept`, the number of candidates within
        it; `references`, those with a candidate within it that differs from them in more than
        case, punctuation and blanks; `one_minus_bleu` of all those candidates against their
        references, None without any.
    """
    size = len(bounds) + 1
    candidates_within, references_within = np.zeros(size, np.int64), np.zeros(size, np.int64)
    counts = np.zeros((size, 2, ORDERS), np.int64)
    references = candidates = 0
    least_pruned = math.inf
    for row in rows:
        references += 1
        candidates += len(row["candidates"])
        reference, key = sentence(row["reference"]), letters_and_digits(row["reference"])
        first = len(bounds)
        for candidate in row["candidates"]:
            if candidate["sum"] is None:
                least_pruned = min(least_pruned, candidate["forward_nll"])
                continue
            place = int(np.searchsorted(bounds, candidate["sum"]))
            candidates_within[place] += 1
            if place < len(bounds) and letters_and_digits(candidate["text"]) != key:
                first = min(first, place)
                counts[place] += bleu_counts(reference, sentence(candidate["text"]))
        references_within[first] += 1
    candidates_within, references_within = candidates_within.cumsum(), references_within.cumsum()
    counts = counts.cumsum(axis=0)
    return {
        "references": references,
        "candidates": candidates,
        "bounds": [
            {
                "max_sum": bound,
                "kept": int(candidates_within[place]),
                "references": int(references_within[place]),
                "one_minus_bleu": round(float(one_minus_bleu(counts[place])), DECIMALS)
                if references_within[place]
                else None,
            }
            for place, bound in enumerate(bounds)
            if bound <= least_pruned
        ],
    }


def write_bounds(
    scored: Path,
    references: Path,
    threshold: Path,
    shards: int,
    output: Path,
    config: dict[str, Any],
) -> None:
    """Write what every bound on the sum of both NLLs would keep of a system's candidates.

    Beside it stand the references' own quantiles.

    Args:
        scored: folder with `scored` shards.
        references: folder with `reference_scores` shards of the same references.
        threshold: threshold.json of the system's select stage, whose bound is measured too.
        output: bounds.json; its record is `bounding` beside it.
    """
    paths, own = shard_paths(scored, shards), shard_paths(references, shards)
    for path in (*paths, *own):
        verify(path)
    groups = {"all": None, **{name: set(corpora) for name, corpora in config["groups"].items()}}
    quantiles = {name: own_quantiles(own, corpora) for name, corpora in groups.items()}
    own_sums = [quantile["max_sum"] for quantile in quantiles["all"]["quantiles"]]
    steps = [step / STEPS_PER_NAT for step in range(1, STEPS + 1)]
    used = read_json(threshold, THRESHOLD_RECORD)["max_sum"]
    bounds = sorted({*steps, *(bound for bound in (used, *own_sums) if bound is not None)})
    rows = progress(sampled(paths, config["seed"], ScoredRow, BOUNDS_SAMPLE), desc="bounds")
    write_json(output, {"own": quantiles, "used": used, **curve(rows, bounds)})
    write_record(output.with_name(RECORD), 0, 0, {}, files=[output])
    for doubt in doubts(quantiles["all"]) if quantiles["all"]["references"] else []:
        print(f"warning: {doubt}; {ADVICE}", file=sys.stderr)


main = command(write_bounds, __name__)
