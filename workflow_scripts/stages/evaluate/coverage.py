"""What every bound on a judge's probability would cover, and how much of that would be good."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.core.files.rows import JudgedRow, ScoredRow
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.stages.evaluate.bounds import sampled
from workflow_scripts.stages.select.probability import ProbabilityBound, same_candidates
from workflow_scripts.stages.select.shard import select

# References whose selection is made anew at each bound, at most.
SAMPLE = 500
STEPS = 10
Row = tuple[ScoredRow, list[float | None]]


def judged_rows(scored: list[Path], judged: list[Path], seed: int) -> Iterator[Row]:
    """Yield at most `SAMPLE` references with their probabilities, drawn by their ids.

    Raises:
        InputError: the shards are not of the same candidates.
    """
    rows = sampled(scored, seed, ScoredRow, SAMPLE)
    for row, of_judge in zip(rows, sampled(judged, seed, JudgedRow, SAMPLE), strict=True):
        yield row, same_candidates(scored[0].parent, row, of_judge)


def curve(
    rows: Iterable[Row],
    config: dict[str, Any],
    max_sum: float,
    used: ProbabilityBound | None,
    segment: Callable[[str], list[str]],
) -> dict[str, Any]:
    """Return what the system would select at each bound on the probability.

    Args:
        rows: references with the probabilities of their candidates.
        config: the settings of the stage `select`.
        max_sum: the largest sum that a candidate may have, in nats.
        used: the bound in use; None: there is none.
        segment: gives the Viterbi pieces of a text.

    Returns:
        `references`, their number; `bounds`: 0.1, 0.2 ... 0.9, each with its `probability`, the
        numbers of references `covered` and of `paraphrases`, and their `expected_good`: the mean
        probability x 100, None without any; and `used`, the same of the bound in use.
    """
    steps = [step / STEPS for step in range(1, STEPS)]
    least = [*(ProbabilityBound([], [step]) for step in steps), used]
    covered, paraphrases = ([0] * len(least) for _ in range(2))
    expected = [0.0] * len(least)
    references = 0
    for row, probabilities in rows:
        references += 1
        for place, bound in enumerate(least):
            chosen, _ = select(row, config, max_sum, segment, probabilities, bound)
            found = [each["probability"] or 0.0 for each in chosen["paraphrases"]]
            covered[place] += bool(found)
            paraphrases[place] += len(found)
            expected[place] += sum(found)
    points = [
        {
            "probability": probability,
            "covered": covered[place],
            "paraphrases": paraphrases[place],
            "expected_good": round(100 * expected[place] / paraphrases[place], DECIMALS)
            if paraphrases[place]
            else None,
        }
        for place, probability in enumerate([*steps, None])
    ]
    return {"references": references, "bounds": points[:-1], "used": points[-1]}
