"""What people's ratings say of each system, as ParaBank's Tables 4 and 5 (Hu et al., AAAI 2019).

paraloom ratings --ratings candidates.tsv > systems.json

See docs/annotate.md.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workflow_scripts.core.cli import CommandParser, count, run
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
    Rating,
    read_ratings,
)

BOOTSTRAP = 1000
# A pair is one of each system that gave it. The length is the reference's.
_PAIR_OF_SYSTEM = ("systems", "reference", "length", "paraphrase")


def come_to(ratings: Iterable[Rating], keys: Sequence[str]) -> pd.DataFrame:
    """Return what the ratings of each pair come to; a pair that comes first stands first.

    Args:
        ratings: of any pairs.
        keys: fields of a rating that tell pairs apart. With `systems` a pair is one of each system
            that gave it, and controls are none.

    Returns:
        The columns `keys`; `similarity`, the mean score, NaN if nobody gave one; and `grammatical`,
        whether nobody found the paraphrase ungrammatical or nonsensical (ParaBank, 5.5).
    """
    table = pd.DataFrame(map(vars, ratings), columns=[*keys, "score", "grammar"])
    if "systems" in keys:
        table = table.explode("systems")
        table = table[table["systems"] != CONTROL]
    pairs = table.groupby([*keys], sort=False, as_index=False).agg(
        similarity=("score", mean_known), grammatical=("grammar", "min")
    )
    return pairs.assign(grammatical=pairs["grammatical"] == GRAMMATICAL)


def mean_known(values: pd.Series) -> float:
    """Return the mean of the numbers that are known, added in their order; NaN without any."""
    known = values.dropna().tolist()
    return sum(known) / len(known) if known else np.nan


def figures(pairs: pd.DataFrame) -> dict[str, Any]:
    """Return the figures of some pairs: means over pairs, each of which is a mean over people.

    Returns:
        `similarity`: 0 to 100, None if no pair has a score; `grammatical`: the share of the pairs
        x 100; `pairs`: those with a score.
    """
    scored = int(pairs["similarity"].count())
    return {
        "similarity": mean_known(pairs["similarity"]) if scored else None,
        "grammatical": 100 * int(pairs["grammatical"].sum()) / len(pairs),
        "pairs": scored,
    }


def aggregate(ratings: Sequence[Rating]) -> dict[str, dict[str, Any]]:
    """Return the figures of each system, and of each length of its references in `by_length`."""
    return {
        system: {
            **figures(pairs),
            "by_length": {length: figures(alike) for length, alike in _groups(pairs, "length")},
        }
        for system, pairs in _groups(come_to(ratings, _PAIR_OF_SYSTEM), "systems")
    }


def _groups(table: pd.DataFrame, column: str) -> list[tuple[str, pd.DataFrame]]:
    """Return the rows by what they have in a column: numbers in their order, then names."""

    def order(group: tuple[str, pd.DataFrame]) -> tuple[bool, int, str, str]:
        name, _ = group
        number = name.isascii() and name.isdigit()
        # Not int(): it refuses more than some thousand digits.
        digits = name.lstrip("0") if number else ""
        return (not number, len(digits), digits, name)

    return sorted(table.groupby(column), key=order)


def figure_intervals(
    rows: Sequence[pd.DataFrame], references: Sequence[str], samples: int, seed: int
) -> list[dict[str, dict[str, float] | None]]:
    """Return 95 % bootstrap intervals over references of rows of figures.

    Args:
        rows: the pairs of each, as `come_to` gives them.
        references: all that are drawn from.
        samples: draws. One draw of references serves all rows.
        seed: of the draws.

    Returns:
        Of each row `similarity` and `grammatical`: `low` and `high`; None where a draw has no pair
        that shows the figure.
    """
    sums = np.zeros((max(len(references), 1), len(rows), 4))
    for number, pairs in enumerate(rows):
        scores, clean = pairs["similarity"], pairs["grammatical"]
        counted = np.column_stack([scores.fillna(0.0), scores.notna(), clean, np.ones(len(pairs))])
        np.add.at(sums[:, number], pd.Index(references).get_indexer(pairs["reference"]), counted)
    drawn = np.concatenate([*resampled(sums.reshape(len(sums), -1), samples, seed)])

    def ends(part: NDArray[np.float64], whole: NDArray[np.float64]) -> dict[str, float] | None:
        return interval(part / whole) if whole.all() else None

    return [
        {"similarity": ends(score, scored), "grammatical": ends(100.0 * clean, pairs)}
        for score, scored, clean, pairs in drawn.reshape(samples, -1, 4).transpose(1, 2, 0)
    ]


def intervals(
    ratings: Sequence[Rating], samples: int = BOOTSTRAP, seed: int = 1
) -> dict[str, dict[str, dict[str, float] | None]]:
    """Return `figure_intervals` of each system, controls apart."""
    systems = dict(_groups(come_to(ratings, _PAIR_OF_SYSTEM), "systems"))
    references = sorted({rating.reference for rating in ratings})
    ends = figure_intervals([*systems.values()], references, samples, seed)
    return dict(zip(systems, ends, strict=True))


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
    counting = [rating for rating in ratings if rating.annotator not in without]
    if not counting:
        raise InputError(
            f"{path}: all {len(without)} annotators are left out ({_reasons(without)}); lower the "
            "bounds, or keep all annotators"
        )
    if all(set(rating.systems) == {CONTROL} for rating in counting):
        raise InputError(f"{path}: nothing but controls (system {CONTROL}) is rated")
    return counting, without


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
    parser = CommandParser(description=main.__doc__)
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
    counting, without = counted(arguments.ratings, ratings, *bounds)
    people = annotators(ratings)
    if without:
        print(
            f"{len(without)} of {len(people)} annotators are left out: {_reasons(without)}",
            file=sys.stderr,
        )
    result = aggregate(counting)
    if arguments.details:
        details = {
            "ratings": len(counting),
            "agreement": agreement(counting, arguments.seed),
            "intervals": intervals(counting, seed=arguments.seed),
            "annotators": {
                name: {**vars(person), "left_out": without.get(name)}
                for name, person in people.items()
            },
        }
        write_text(arguments.details, json.dumps(details, indent=2) + "\n")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    run(main)
