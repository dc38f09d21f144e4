"""Find the bound on a judge's probability: a fixed one, an exact quantile, or one per length."""

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import JudgedRow, ScoredRow
from workflow_scripts.core.statistics.order_statistics import order_statistics, quantile_rank
from workflow_scripts.core.text.normalisation import words

# Labels of a band of lengths that tell something of it.
FEWEST = 20


class Judged(NamedTuple):
    """The candidates of one reference: their sums (nats) and probabilities, None where unknown."""

    reference: str
    sums: list[float | None]
    probabilities: list[float | None]


class ProbabilityBound(NamedTuple):
    """The least probability allowed, by the length of the reference.

    Attributes:
        ends: the most words of each band but the last, ascending; empty: one band.
        least: the bound of each band.
    """

    ends: list[int]
    least: list[float]

    def of(self, reference: str) -> float:
        """Return the least probability of a paraphrase of this reference."""
        return self.least[bisect_left(self.ends, len(words(reference)))]


def read_judged(scored: list[Path], judged: list[Path]) -> Iterator[Judged]:
    """Yield the references of `scored` shards with the probabilities of `judged` shards.

    Raises:
        InputError: the shards are not of the same candidates.
    """
    for path, other in zip(scored, judged, strict=True):
        columns = ["id", "reference", "candidates"]
        rows = read_rows(path, ScoredRow, columns, 256)
        for row, found in zip(rows, read_rows(other, JudgedRow, batch_size=256), strict=True):
            probabilities = same_candidates(path, row, found)
            sums = [candidate["sum"] for candidate in row["candidates"]]
            yield Judged(row["reference"], sums, probabilities)


def same_candidates(path: Path, row: ScoredRow, found: JudgedRow | None) -> list[float | None]:
    """Return the probabilities of a scored row's candidates.

    Args:
        path: of the shard with the scored row.
        row: of which `id` and `candidates` count.
        found: the judged row in the same place, None where there is no more.

    Raises:
        InputError: they belong to another reference, or to other candidates.
    """
    if (
        found is None
        or found["id"] != row["id"]
        or len(found["probabilities"]) != len(row["candidates"])
    ):
        raise InputError(
            f"{path}: reference {row['id']} has other candidates than were judged; judge again "
            "(snakemake --forcerun judge)"
        )
    return found["probabilities"]


def probability_bound(
    rows: Callable[[], Iterable[Judged]],
    keep: dict[str, Any],
    max_sum: float,
    judge: Path | None = None,
) -> dict[str, Any]:
    """Return the bound and how many candidates it keeps.

    Args:
        rows: gives a new pass over all references at each call.
        keep: one of {"probability": p}; {"probability_quantile": q} with 0 < q <= 1: the greatest
            probability such that at least the share q of all judged candidates has as much; and
            {"precision": p}.
        max_sum: the largest sum that a candidate may have, in nats.
        judge: the verified judge.json whose labels tell the bounds of the last kind.

    Returns:
        `ends` and `least`, the fields of `ProbabilityBound`, and the numbers `judged` and `kept`:
        within this bound and `max_sum`.

    Raises:
        InputError: no candidate was judged, or the judge has no such bound.
    """
    if "probability" in keep:
        bound = ProbabilityBound([], [float(keep["probability"])])
    elif "precision" in keep:
        if judge is None:
            raise InputError("select.keep.precision needs --judge")
        bound = precise(json.loads(judge.read_text(encoding="utf-8")), keep["precision"])
    else:
        bound = ProbabilityBound([], [_quantile(rows, keep["probability_quantile"])])
    judged = kept = 0
    for row in rows():
        least = bound.of(row.reference)
        for total, probability in zip(row.sums, row.probabilities, strict=True):
            if probability is not None:
                judged += 1
                kept += probability >= least and total is not None and total <= max_sum
    return {**bound._asdict(), "judged": judged, "kept": kept}


def precise(judge: dict[str, Any], precision: float) -> ProbabilityBound:
    """Return the least bound of each band of lengths above which enough of the labels are good.

    It is one of those that the judge's reliability was counted at: 0, 0.2, 0.4, 0.6 or 0.8, of
    pairs whose references the judge was not fitted to. A band without such a bound that has
    `FEWEST` labels above it takes the bound of all lengths together.

    Args:
        judge: the content of judge.json.
        precision: the share of good labels.

    Raises:
        InputError: no bound gives as much for all lengths together.
    """
    bands = [band["bins"] for band in judge["about"]["reliability"]]
    together = _least(list(chain.from_iterable(bands)), precision, 1)
    if together is None:
        most = max(each["good"] for each in chain.from_iterable(bands))
        raise InputError(
            f"select.keep.precision: no bound of the judge has {precision} good ones among its "
            f"labels (at most {most}); ask for less, or give a probability"
        )
    found = [_least(band, precision, FEWEST) for band in bands]
    least = [together if each is None else each for each in found]
    return ProbabilityBound([words - 1 for words in judge["bands"]], least)


def _least(bins: list[dict[str, Any]], precision: float, fewest: int) -> float | None:
    """Return the least start of a bin such that those from it on are good enough together."""
    pairs, good, least = 0, 0.0, None
    for start in sorted({each["from"] for each in bins}, reverse=True):
        same = [each for each in bins if each["from"] == start]
        pairs += sum(each["pairs"] for each in same)
        good += sum(each["pairs"] * each["good"] for each in same)
        if pairs >= fewest and good >= precision * pairs:
            least = start
    return least


def _quantile(rows: Callable[[], Iterable[Judged]], quantile: float) -> float:
    def values() -> Iterator[NDArray[np.float32]]:
        for row in rows():
            known = [each for each in row.probabilities if each is not None]
            yield np.array(known, np.float32)

    count = sum(map(len, values()))
    if not count:
        raise InputError(
            "select.keep.probability_quantile: no candidate was judged, so there is no quantile; "
            "keep more by max_sum, or give a probability"
        )
    rank = count + 1 - quantile_rank(quantile, count)
    (least,) = order_statistics(values, [rank])
    return least
