"""Select the paraphrases of every reference of a shard."""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.files.manifest import read_json, verify_file
from workflow_scripts.core.files.rows import (
    JudgedCandidate,
    JudgedRow,
    Paraphrase,
    ParaphrasesRow,
    ScoredRow,
)
from workflow_scripts.core.files.shard_frame import Input, Tally, write_shard
from workflow_scripts.plan.schema import filled
from workflow_scripts.stages.score.near_doubles import same_content
from workflow_scripts.stages.score.near_equal import spelt
from workflow_scripts.stages.select.methods import (
    REASONS,
    SAME_AS_REFERENCE,
    Choice,
    bests,
    cluster_bests,
    distinct,
    eligible,
    with_new_words,
)
from workflow_scripts.stages.select.probability import ProbabilityBound, same_candidates
from workflow_scripts.stages.select.threshold import RECORD
from workflow_scripts.stages.subword.segmenter import Segmenter, segmenter_path

NO_CANDIDATES = "no_candidates"  # nothing was scored for this reference
FEW_CANDIDATES = "few_candidates"  # all were selected, and more were wanted


# What ranks candidates by each method where the system does not say.
_SCORES = {"cluster": "sum", "judged": "judge", "nbest": "forward_nll", "best": "forward_nll"}


def read_bounds(path: Path) -> tuple[float, ProbabilityBound | None]:
    """Return the bounds of a verified threshold.json.

    They are the largest sum, in nats, infinite where it has no bound; and the least probability
    where a judge's has one.
    """
    bounds = read_json(path, RECORD)
    max_sum = math.inf if bounds["max_sum"] is None else bounds["max_sum"]
    part = bounds.get("probability")
    return max_sum, None if part is None else ProbabilityBound(part["ends"], part["least"])


def choose(
    candidates: list[JudgedCandidate],
    reference: str,
    config: dict[str, Any],
    segment: Callable[[str], list[str]],
) -> tuple[list[Choice], Counter[str]]:
    """Choose among the eligible candidates by the method that the config names.

    Before that the candidates with too few new words are left out. With a judge, or where the
    config says when candidates are distinct, nearly equal ones count as one.
    """
    score = config.get("score", _SCORES[config["method"]])
    options = filled(config, "select")
    rejected: Counter[str] = Counter()
    if least := options["new_words"]:
        candidates, rejected = with_new_words(candidates, reference, least, config["language"])
    if options["judge"] is not None or options["distinct"] is not None:
        language = config["language"]
        content = partial(same_content, language=language) if options["distinct"] else None
        candidates, doubles = distinct(candidates, reference, score, spelt(language), content)
        rejected += doubles
    if config["method"] in ("cluster", "judged"):
        clusters, centres = config["clusters"], options["centres"]
        chosen, outdone = cluster_bests(
            candidates, reference, segment, clusters, wanted(config), score, centres
        )
    else:
        chosen, outdone = bests(candidates, wanted(config), score)
    return chosen, rejected + outdone


def wanted(config: dict[str, Any]) -> int:
    """Return how many paraphrases a reference can have."""
    return 1 if config["method"] == "best" else config["best"]


def select(
    row: ScoredRow,
    config: dict[str, Any],
    max_sum: float,
    segment: Callable[[str], list[str]],
    probabilities: list[float | None] | None = None,
    bound: ProbabilityBound | None = None,
) -> tuple[ParaphrasesRow, Counter[str]]:
    """Return one reference with its paraphrases, best first, and what kept the others out.

    Args:
        row: the reference with its scored candidates.
        config: {"method": "cluster" | "judged" | "nbest" | "best", "clusters", "best"}, and maybe
            "centres", "distinct" and "new_words"; with the method `best` there is one paraphrase,
            whatever `best` says; where there is a judge also "judge" and maybe "score"; with any
            of these but "centres" and "score" the "language" of the references.
        max_sum: the largest sum a paraphrase may have, in nats.
        segment: gives the Viterbi pieces of a text.
        probabilities: those of a judge, one for each candidate, None where it was not judged.
        bound: the least probability a paraphrase may have; None: any that a judge gave.

    Returns:
        The row; and how many candidates were not chosen, by reason.
        `reason` is empty where the list is full, else it lists those counts.
    """
    scored = row["candidates"]
    known = repeat(None) if probabilities is None else probabilities
    candidates: list[JudgedCandidate] = [
        {**candidate, "probability": probability}
        for candidate, probability in zip(scored, known, strict=False)  # `repeat` has no end
    ]
    least = None
    if probabilities is not None:
        least = bound.of(row["reference"]) if bound else 0.0
    allowed, rejected = eligible(candidates, row["reference"], max_sum, least)
    outside = rejected.total() - rejected[SAME_AS_REFERENCE]  # by what `keep` says
    chosen, outdone = choose(allowed, row["reference"], config, segment)
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
            "probability": candidate["probability"],
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
        "kept": len(candidates) - outside,
        "reason": "" if full else describe(len(candidates), rejected),
    }
    return selected, rejected


def describe(candidates: int, rejected: Counter[str]) -> str:
    """Return why a list is not full, e.g. `above_threshold 140, reference_cluster 3`."""
    ordered = dict.fromkeys((*REASONS, *sorted(rejected)))
    counts = [f"{reason} {rejected[reason]}" for reason in ordered if rejected[reason]]
    return ", ".join(counts) or (FEW_CANDIDATES if candidates else NO_CANDIDATES)


class Summary:
    """Counts over the references of a shard, for its record."""

    def __init__(self) -> None:
        self._candidates: Counter[str] = Counter()
        self._references: Counter[int] = Counter()
        self._short: Counter[str] = Counter()

    def add(self, selected: ParaphrasesRow, rejected: Counter[str]) -> None:
        """Count one reference."""
        count = len(selected["paraphrases"])
        self._candidates.update(rejected)
        self._candidates["selected"] += count
        self._references[count] += 1
        if selected["reason"]:
            self._short.update(list(rejected) or [selected["reason"]])

    def as_dict(self) -> dict[str, Any]:
        """Return the counts.

        candidates: how many were selected, or what kept them out; it adds up to all.
        references_by_paraphrases: how many references have 0, 1, 2, ... paraphrases.
        short_references_by_reason: of those with too few, how many met each reason.
        """
        return {
            "candidates": {**dict.fromkeys((*REASONS, "selected"), 0), **self._candidates},
            "references_by_paraphrases": {
                str(number): count for number, count in sorted(self._references.items())
            },
            "short_references_by_reason": dict(self._short),
        }


def select_shard(
    config: dict[str, Any],
    scored: Path,
    threshold: Path,
    model: Path,
    output: Path,
    judged: Path | None = None,
) -> None:
    """Select the paraphrases of every reference: a `scored` shard becomes a `paraphrases` shard.

    `model` is the folder with the vocabulary by which pieces count; with a judge, `judged` is
    the shard of its probabilities. Memory does not grow with the shard. Every reference gives
    one row, also without paraphrases.

    Raises:
        InputError: the `judged` shard is of other candidates, or another file is damaged.
    """
    candidates = Input(scored, ScoredRow).rows(batch_size=64)
    of_judge = iter(Input(judged, JudgedRow).rows(batch_size=64).items) if judged else None
    segmenter_file = segmenter_path(model, "reference")
    verify_file(segmenter_file, "model")
    max_sum, bound = read_bounds(threshold)
    segmenter = Segmenter(segmenter_file)
    tally = Tally()

    def with_paraphrases(rows: Iterator[ScoredRow]) -> Iterator[ParaphrasesRow]:
        summary = Summary()
        for row in rows:
            probabilities = None
            if of_judge is not None:
                probabilities = same_candidates(scored, row, next(of_judge, None))
            selected, rejected = select(
                row, config, max_sum, segmenter.pieces, probabilities, bound
            )
            yield selected
            summary.add(selected, rejected)
        tally.extra = summary.as_dict()

    write_shard(candidates, with_paraphrases, output, ParaphrasesRow, "select", tally)


main = command(select_shard, __name__)
