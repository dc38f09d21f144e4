"""What people's ratings say of each system, as ParaBank's Tables 4 and 5 (Hu et al., AAAI 2019).

python -m workflow_scripts.judge.ratings --ratings candidates.tsv > systems.json

See docs/annotate.md.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.cli import count, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_text
from workflow_scripts.core.statistics.bootstrap import interval, resampled
from workflow_scripts.stages.judge.annotator_agreement import agreement
from workflow_scripts.stages.judge.annotators import (
    MAX_FAILED_CONTROLS,
    MIN_JUDGMENTS,
    annotators,
    left_out,
)
from workflow_scripts.stages.judge.rating_file import (
    CONTROL,
    GRAMMATICAL,
    Pair,
    Rating,
    by_pair,
    read_ratings,
)

BOOTSTRAP = 1000
# The sums of a reference that all figures follow from.
_SCORE, _SCORED, _CLEAN, _PAIRS = range(4)


def similarity(ratings: Sequence[Rating]) -> float | None:
    """Return the mean score of a pair's ratings; None if none has a score."""
    scores = [each.score for each in ratings if each.score is not None]
    return sum(scores) / len(scores) if scores else None


def grammatical(ratings: Sequence[Rating]) -> bool:
    """Return whether nobody found the paraphrase ungrammatical or nonsensical (ParaBank, 5.5)."""
    return all(each.grammar == GRAMMATICAL for each in ratings)


def figures(pairs: Mapping[Pair, Sequence[Rating]]) -> dict[str, Any]:
    """Return the figures of some pairs: means over pairs, each of which is a mean over people.

    Returns:
        `similarity`: 0 to 100, None if no pair has a score; `grammatical`: the share of the pairs
        x 100; `pairs`: those with a score.
    """
    scores = [each for ratings in pairs.values() if (each := similarity(ratings)) is not None]
    clean = sum(map(grammatical, pairs.values()))
    return {
        "similarity": sum(scores) / len(scores) if scores else None,
        "grammatical": 100 * clean / len(pairs),
        "pairs": len(scores),
    }


def aggregate(ratings: Sequence[Rating]) -> dict[str, dict[str, Any]]:
    """Return the figures of each system, and of each length of its references in `by_length`."""
    found = by_pair(ratings)
    result = {}
    for system in sorted(found, key=_natural):
        pairs = found[system]
        lengths = sorted({pair.length for pair in pairs}, key=_natural)
        alike = {
            length: {pair: each for pair, each in pairs.items() if pair.length == length}
            for length in lengths
        }
        result[system] = {
            **figures(pairs),
            "by_length": {length: figures(each) for length, each in alike.items()},
        }
    return result


def _natural(text: str) -> tuple[bool, int, str, str]:
    """Numbers first, in their order, then names."""
    number = text.isascii() and text.isdigit()
    # Not int(): it refuses more than some thousand digits.
    digits = text.lstrip("0") if number else ""
    return (not number, len(digits), digits, text)


def add_sums(sums: NDArray[np.float64], score: float | None, clean: bool) -> None:
    """Add a pair to the sums that `figure_intervals` takes, in place; the shape is (4,).

    Args:
        sums: those of one reference and one row of figures.
        score: the mean of the pair's scores; None if it has none.
        clean: whether nobody found it ungrammatical or nonsensical.
    """
    if score is not None:
        sums[_SCORE] += score
        sums[_SCORED] += 1
    sums[_CLEAN] += clean
    sums[_PAIRS] += 1


def figure_intervals(
    sums: NDArray[np.float64], samples: int, seed: int
) -> list[dict[str, dict[str, float] | None]]:
    """Return 95 % bootstrap intervals over references of rows of figures.

    Args:
        sums: by `add_sums`, shape (references, rows, 4).
        samples: draws. One draw of references serves all rows.
        seed: of the draws.

    Returns:
        Of each row `similarity` and `grammatical`: `low` and `high`; None where a draw has no pair
        that shows the figure.
    """
    drawn = np.concatenate([*resampled(sums.reshape(len(sums), -1), samples, seed)])
    drawn = drawn.reshape(samples, -1, 4)

    def ends(row: int, part: int, whole: int, unit: float) -> dict[str, float] | None:
        counts = drawn[:, row, whole]
        return interval(unit * drawn[:, row, part] / counts) if counts.all() else None

    return [
        {
            "similarity": ends(row, _SCORE, _SCORED, 1.0),
            "grammatical": ends(row, _CLEAN, _PAIRS, 100.0),
        }
        for row in range(drawn.shape[1])
    ]


def intervals(
    ratings: Sequence[Rating], samples: int = BOOTSTRAP, seed: int = 1
) -> dict[str, dict[str, dict[str, float] | None]]:
    """Return `figure_intervals` of each system, controls apart."""
    found = by_pair(ratings)
    systems = sorted(found, key=_natural)
    references = {name: row for row, name in enumerate(sorted({r.reference for r in ratings}))}
    sums = np.zeros((len(references), len(systems), 4))
    for column, system in enumerate(systems):
        for pair, each in found[system].items():
            add_sums(sums[references[pair.reference], column], similarity(each), grammatical(each))
    return dict(zip(systems, figure_intervals(sums, samples, seed), strict=True))


def counted(
    path: Path,
    ratings: Sequence[Rating],
    min_judgments: int = MIN_JUDGMENTS,
    max_failed: float = MAX_FAILED_CONTROLS,
) -> tuple[list[Rating], dict[str, str]]:
    """Return the ratings that count, and the people who are left out with the reason of each.

    Args:
        path: the ratings' file, for messages.
        ratings: all that it has.
        min_judgments: of a person, controls among them.
        max_failed: the share of a person's controls that may fail.

    Raises:
        InputError: nobody is left, or nobody rated anything but controls.
    """
    without = left_out(ratings, min_judgments, max_failed)
    kept = [each for each in ratings if each.annotator not in without]
    if not kept:
        raise InputError(
            f"{path}: all {len(without)} annotators are left out ({_reasons(without)}); lower the "
            "bounds, or keep all annotators"
        )
    if all(set(each.systems) == {CONTROL} for each in kept):
        raise InputError(f"{path}: nothing but controls (system {CONTROL}) is rated")
    return kept, without


def _reasons(without: Mapping[str, str]) -> str:
    shown = [f"{name}: {reason}" for name, reason in list(without.items())[:10]]
    return "; ".join([*shown, *(["..."] if len(without) > len(shown) else [])])


def _share(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not from 0 to 1")
    return number


def main(argv: list[str] | None = None) -> None:
    """Print each system's mean similarity and share of grammatical paraphrases as JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m workflow_scripts.judge.ratings", description=main.__doc__
    )
    parser.add_argument(
        "--ratings", type=Path, required=True, help="of people, as docs/annotate.md says"
    )
    parser.add_argument(
        "--min-judgments",
        type=count,
        default=MIN_JUDGMENTS,
        help=f"a person with fewer is left out, controls count ({MIN_JUDGMENTS})",
    )
    parser.add_argument(
        "--max-failed-controls",
        type=_share,
        default=MAX_FAILED_CONTROLS,
        help=f"a person who fails a greater share is left out ({MAX_FAILED_CONTROLS})",
    )
    parser.add_argument("--keep-all-annotators", action="store_true", help="leave nobody out")
    parser.add_argument(
        "--details",
        type=Path,
        help="write agreement, 95 %% intervals and annotators into this file, as JSON",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the draws in --details (1)")
    arguments = parser.parse_args(argv)
    ratings = read_ratings(arguments.ratings)
    bounds = (
        (0, 1.0)
        if arguments.keep_all_annotators
        else (arguments.min_judgments, arguments.max_failed_controls)
    )
    kept, without = counted(arguments.ratings, ratings, *bounds)
    people = annotators(ratings)
    if without:
        print(
            f"{len(without)} of {len(people)} annotators are left out: {_reasons(without)}",
            file=sys.stderr,
        )
    result = aggregate(kept)
    if arguments.details:
        details = {
            "ratings": len(kept),
            "agreement": agreement(kept, arguments.seed),
            "intervals": intervals(kept, seed=arguments.seed),
            "annotators": {
                name: {**vars(each), "left_out": without.get(name)} for name, each in people.items()
            },
        }
        write_text(arguments.details, json.dumps(details, indent=2) + "\n")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    run(main)
