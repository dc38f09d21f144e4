"""Select the paraphrases of every reference of a shard."""

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import json_argument, run
from workflow_scripts.core.manifest import read_json, verify_file
from workflow_scripts.core.rows import Paraphrase, ParaphrasesRow, ScoredCandidate, ScoredRow
from workflow_scripts.core.shard import Input, Tally, write_shard
from workflow_scripts.select.methods import (
    ABOVE_THRESHOLD,
    REASONS,
    Choice,
    cluster_bests,
    eligible,
    forward_bests,
)
from workflow_scripts.select.threshold import RECORD
from workflow_scripts.subword.segmenter import Segmenter, segmenter_path

NO_CANDIDATES = "no_candidates"  # nothing was scored for this reference
FEW_CANDIDATES = "few_candidates"  # all were selected, and more were wanted


def choose(
    candidates: list[ScoredCandidate],
    reference: str,
    config: dict[str, Any],
    segment: Callable[[str], list[str]],
) -> tuple[list[Choice], Counter[str]]:
    """Choose among the eligible candidates by the method that the config names."""
    if config["method"] == "cluster":
        return cluster_bests(candidates, reference, segment, config["clusters"], wanted(config))
    return forward_bests(candidates, wanted(config))


def wanted(config: dict[str, Any]) -> int:
    """Return how many paraphrases a reference can have."""
    return 1 if config["method"] == "best" else config["best"]


def select(
    row: ScoredRow,
    config: dict[str, Any],
    max_sum: float,
    segment: Callable[[str], list[str]],
) -> tuple[ParaphrasesRow, Counter[str]]:
    """Return one reference with its paraphrases, best first, and what kept the others out.

    Args:
        row: the reference with its scored candidates.
        config: {"method": "cluster" | "nbest" | "best", "clusters", "best"}; with the method
            `best` there is one paraphrase, whatever `best` says.
        max_sum: the largest sum a paraphrase may have, in nats.
        segment: gives the Viterbi pieces of a text.

    Returns:
        The row; and how many candidates were not chosen, by reason.
        `reason` is empty where the list is full, else it lists those counts.
    """
    candidates = row["candidates"]
    kept, rejected = eligible(candidates, row["reference"], max_sum)
    chosen, outdone = choose(kept, row["reference"], config, segment)
    rejected += outdone  # which leaves out what is zero
    full = len(chosen) == wanted(config)
    paraphrases: list[Paraphrase] = [
        {
            "rank": rank,
            "text": candidate["text"],
            "forward_nll": candidate["forward_nll"],
            "backward_nll": candidate["backward_nll"],
            "sum": candidate["sum"],
            "cluster": cluster,
            "variant": candidate["variant"],
        }
        for rank, (candidate, cluster) in enumerate(chosen, start=1)
    ]
    selected: ParaphrasesRow = {
        "id": row["id"],
        "source": row["source"],
        "reference": row["reference"],
        "corpus": row["corpus"],
        "paraphrases": paraphrases,
        "candidates": len(candidates),
        "kept": len(candidates) - rejected[ABOVE_THRESHOLD],
        "reason": "" if full else describe(len(candidates), rejected),
    }
    return selected, rejected


def describe(candidates: int, rejected: Counter[str]) -> str:
    """Return why a list is not full, e.g. `above_threshold 140, reference_cluster 3`."""
    counts = [f"{reason} {rejected[reason]}" for reason in REASONS if rejected[reason]]
    return ", ".join(counts) or (FEW_CANDIDATES if candidates else NO_CANDIDATES)


class Summary:
    """Counts over the references of a shard, for its record."""

    def __init__(self) -> None:
        self._candidates: Counter[str] = Counter()
        self._references: Counter[int] = Counter()
        self._short: Counter[str] = Counter()

    def add(self, selected: ParaphrasesRow, rejected: Counter[str]) -> None:
        """Count one reference."""
        found = len(selected["paraphrases"])
        self._candidates.update(rejected)
        self._candidates["selected"] += found
        self._references[found] += 1
        if selected["reason"]:
            self._short.update(list(rejected) or [selected["reason"]])

    def as_dict(self) -> dict[str, Any]:
        """Return the counts.

        candidates: how many were selected, or what kept them out; it adds up to all.
        references_by_paraphrases: how many references have 0, 1, 2, ... paraphrases.
        short_references_by_reason: of those with too few, how many met each reason.
        """
        return {
            "candidates": {reason: self._candidates[reason] for reason in (*REASONS, "selected")},
            "references_by_paraphrases": {
                str(found): count for found, count in sorted(self._references.items())
            },
            "short_references_by_reason": dict(self._short),
        }


def select_shard(
    input_path: Path,
    threshold_path: Path,
    segmenter_file: Path,
    output: Path,
    config: dict[str, Any],
) -> None:
    """Stream a `scored` shard into a `paraphrases` shard with its record.

    Memory does not grow with the shard. Every reference gives one row, also without paraphrases.
    """
    scored = Input(input_path, "scored").rows(batch_size=64)
    verify_file(segmenter_file, "model")
    max_sum = read_json(threshold_path, RECORD)["max_sum"]
    max_sum = math.inf if max_sum is None else max_sum
    segmenter = Segmenter(segmenter_file)
    tally = Tally()

    def with_paraphrases(rows: Iterator[ScoredRow]) -> Iterator[ParaphrasesRow]:
        summary = Summary()
        for row in rows:
            selected, rejected = select(row, config, max_sum, segmenter.pieces)
            yield selected
            summary.add(selected, rejected)
        tally.extra = summary.as_dict()

    write_shard(scored, with_paraphrases, output, "paraphrases", "select", tally)


def main(argv: list[str] | None = None) -> None:
    """Select the paraphrases of every reference of a shard."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json_argument, required=True, help="JSON")
    parser.add_argument("--input", type=Path, required=True, help="shard of scored candidates")
    parser.add_argument("--threshold", type=Path, required=True, help="of the threshold module")
    parser.add_argument(
        "--model", type=Path, required=True, help="folder of the forward model, for its pieces"
    )
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args(argv)
    select_shard(
        arguments.input,
        arguments.threshold,
        segmenter_path(arguments.model, "reference"),
        arguments.output,
        arguments.config,
    )


if __name__ == "__main__":
    run(main)
