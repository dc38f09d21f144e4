"""What people say of one system's paraphrases (ParaBank, Tables 4 and 5; ParaBank 2, Table 1).

Ratings belong to a pair by the reference's id and the paraphrase's text, whichever system it was
rated for. docs/evaluate.md says how the rows of the table are made.
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workflow_scripts.core.cli import run
from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import shard_paths, verify, write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ParaphrasesRow, ScoredRow
from workflow_scripts.core.progress import progress
from workflow_scripts.core.text.normalisation import words
from workflow_scripts.stages.evaluate.diversity import Comparison, mean, sentence
from workflow_scripts.stages.evaluate.exact_lengths import LENGTHS
from workflow_scripts.stages.evaluate.lengths import ENDS, place
from workflow_scripts.stages.judge.annotator_agreement import agreement
from workflow_scripts.stages.judge.rating_file import CONTROL, Rating, read_ratings
from workflow_scripts.stages.judge.ratings import (
    add_sums,
    counted,
    figure_intervals,
    grammatical,
    similarity,
)

# The record of ratings.json: rating.json, as ratings.json itself looks like a record.
RECORD = "rating"
COLUMNS = ["id", "reference", "paraphrases"]
SCORED = ["id", "reference", "candidates"]
# By reference and paraphrase.
Ratings = Mapping[tuple[str, str], Sequence[Rating]]


@dataclass(frozen=True)
class Rated:
    """A paraphrase that people rated."""

    rank: int
    text: str
    similarity: float | None
    """The mean of its scores; None if nobody gave one."""
    grammatical: bool


@dataclass(frozen=True)
class RatedReference:
    """A reference with what of its listed paraphrases was rated, best rank first."""

    text: str
    listed: int
    rated: list[Rated]

    def at(self, rank: int) -> Rated | None:
        """Return the paraphrase at a rank; beyond the last one that one (ParaBank 2, 3.4)."""
        wanted = min(rank, self.listed)
        return next((pair for pair in self.rated if pair.rank == wanted), None)

    def _by_score(self) -> list[Rated]:
        """Return those with a score, the highest first; of equal ones the better rank first."""
        scored = [pair for pair in self.rated if pair.similarity is not None]
        return sorted(scored, key=lambda pair: (-(pair.similarity or 0.0), pair.rank))

    def highest(self) -> Rated | None:
        """Return the one that people find closest; of equal ones that of the best rank."""
        return next(iter(self._by_score()), None)

    def median(self) -> Rated | None:
        """Return the middle one; of an even number the lower one of the two in the middle."""
        scored = self._by_score()
        return scored[len(scored) // 2] if scored else None

    def lowest(self) -> Rated | None:
        """Return the one that people find least close; of equal ones that of the worst rank."""
        return next(reversed(self._by_score()), None)


# The oracle systems of ParaBank 2, 3.4: one paraphrase of each reference, by its human score.
ORACLES: dict[str, Callable[[RatedReference], Rated | None]] = {
    "max": RatedReference.highest,
    "median": RatedReference.median,
    "min": RatedReference.lowest,
}


def of_pairs(ratings: Iterable[Rating]) -> dict[tuple[str, str], list[Rating]]:
    """Return the ratings of each reference and paraphrase, controls apart."""
    pairs: dict[tuple[str, str], list[Rating]] = {}
    for rating in ratings:
        if set(rating.systems) != {CONTROL}:
            pairs.setdefault((rating.reference, rating.paraphrase), []).append(rating)
    return pairs


def rated_text(rank: int, text: str, ratings: Sequence[Rating]) -> Rated:
    """Return a paraphrase with what its ratings, at least one, come to."""
    return Rated(rank, text, similarity(ratings), grammatical(ratings))


def rated_reference(row: ParaphrasesRow, ratings: Ratings, best: int) -> RatedReference | None:
    """Return a row of the `paraphrases` schema with its ratings; None if it has none."""
    listed = row["paraphrases"][:best]
    rated = [
        rated_text(rank, paraphrase["text"], own)
        for rank, paraphrase in enumerate(listed, start=1)
        if (own := ratings.get((row["id"], paraphrase["text"])))
    ]
    return RatedReference(row["reference"], len(listed), rated) if rated else None


def summary(
    references: Sequence[RatedReference], best: int, samples: int, seed: int
) -> dict[str, Any]:
    """Return the figures of all rated pairs, of each rank, each oracle and each range of lengths.

    Args:
        references: those with a rated paraphrase, at least one.
        best: paraphrases of a reference at most.
        samples: bootstrap samples behind the intervals.
        seed: of the draws.
    """
    rows: list[list[list[Rated]]] = [[reference.rated for reference in references]]
    rows += [_alone(one.at(rank) for one in references) for rank in range(1, best + 1)]
    rows += [_alone(map(choose, references)) for choose in ORACLES.values()]
    everything, *others = (
        {**_figures(row), "interval": interval, **_differences(references, row)}
        for row, interval in zip(rows, _intervals(rows, samples, seed), strict=True)
    )
    return {
        "all": everything,
        "by_length": _by_length(references),
        "exact_lengths": _exact_lengths((one.text, one.rated) for one in references),
        "ranks": [{"rank": rank, **row} for rank, row in enumerate(others[:best], start=1)],
        "oracles": [
            {"oracle": name, **row} for name, row in zip(ORACLES, others[best:], strict=True)
        ],
    }


def _alone(pairs: Iterable[Rated | None]) -> list[list[Rated]]:
    """Return the one pair of each reference in a list; an empty one where there is none."""
    return [[pair] if pair else [] for pair in pairs]


def _intervals(
    rows: Sequence[Sequence[Sequence[Rated]]], samples: int, seed: int
) -> Sequence[dict[str, Any]]:
    """Return the intervals of the figures of each row, which has the pairs of each reference."""
    sums = np.zeros((max(len(rows[0]), 1), len(rows), 4))
    for column, row in enumerate(rows):
        for number, pairs in enumerate(row):
            for pair in pairs:
                add_sums(sums[number, column], pair.similarity, pair.grammatical)
    return figure_intervals(sums, samples, seed)


def _by_length(references: Sequence[RatedReference]) -> list[dict[str, Any]]:
    """Return the figures of the references of each range of lengths."""
    spans = [place(len(words(reference.text))) for reference in references]
    starts = [0, *(end + 1 for end in ENDS)]
    return [
        {
            "from": start,
            "to": end,
            **_figures(
                reference.rated
                for reference, own in zip(references, spans, strict=True)
                if own == span
            ),
        }
        for span, (start, end) in enumerate(zip(starts, [*ENDS, None], strict=True))
    ]


def variant_figures(
    rows: Iterable[ScoredRow], ratings: Ratings, config: dict[str, Any]
) -> dict[str, Any]:
    """Return what people say of the outputs of each variant (ParaBank, Tables 4 and 5).

    All outputs count, whether or not they were selected; one that several variants share counts for
    each.

    Args:
        rows: of the `scored` schema, `SCORED` of them.
        ratings: by reference and paraphrase.
        config: the stage's settings, with `variants`, their names.
    """
    names: list[str] = config["variants"]
    texts: list[str] = []
    rated: list[dict[str, list[Rated]]] = []
    for row in rows:
        of_variants: dict[str, list[Rated]] = {}
        for candidate in row["candidates"]:
            if own := ratings.get((row["id"], candidate["text"])):
                pair = rated_text(1, candidate["text"], own)
                for name in candidate["variant"].split():
                    of_variants.setdefault(name, []).append(pair)
        if of_variants:
            texts.append(row["reference"])
            rated.append(of_variants)
    pairs = [[of_variants.get(name, []) for of_variants in rated] for name in names]
    intervals = _intervals(pairs, config["bootstrap"], config["seed"])
    return {
        name: {
            **_figures(own),
            "interval": interval,
            "exact_lengths": _exact_lengths(zip(texts, own, strict=True)),
        }
        for name, own, interval in zip(names, pairs, intervals, strict=True)
    }


def _exact_lengths(rated: Iterable[tuple[str, Sequence[Rated]]]) -> list[dict[str, Any]]:
    """Return the figures of the references that have exactly so many tokens."""
    by_length: dict[int, list[Sequence[Rated]]] = {length: [] for length in LENGTHS}
    for text, pairs in rated:
        if (length := len(text.split())) in by_length:
            by_length[length].append(pairs)
    return [{"length": length, **_figures(pairs)} for length, pairs in by_length.items()]


def _figures(row: Iterable[Sequence[Rated]]) -> dict[str, Any]:
    """Return `similarity`, `grammatical` and `pairs` as `judge.ratings`, and how many `rated`."""
    pairs = [pair for rated in row for pair in rated]
    scores = [pair.similarity for pair in pairs if pair.similarity is not None]
    return {
        "similarity": mean(sum(scores), len(scores)),
        "grammatical": mean(100.0 * sum(pair.grammatical for pair in pairs), len(pairs)),
        "pairs": len(scores),
        "rated": len(pairs),
    }


def _differences(
    references: Sequence[RatedReference], row: Sequence[Sequence[Rated]]
) -> dict[str, Any]:
    """Return how much the pairs differ in words, as measures.json has it."""
    comparison = Comparison()
    for reference, rated in zip(references, row, strict=True):
        first = sentence(reference.text)
        for pair in rated:
            comparison.add(first, sentence(pair.text))
    figures = comparison.result()
    return {"one_minus_bleu": figures["one_minus_bleu"], **figures.get("words", {})}


def rate_system(
    config: dict[str, Any], selected: Sequence[Path], scored: Sequence[Path], file: Path
) -> dict[str, Any]:
    """Return ratings.json of a system.

    Args:
        config: the stage's settings, with `ratings`, and `variants` where the system has some.
        selected: the shards of the select stage.
        scored: those of the score stage, read only for variants.
        file: of ratings.

    Raises:
        InputError: a file is damaged, the ratings are none, nobody's ratings count, or they are of
            references that the run does not have.
    """
    bounds = config["ratings"]
    ratings = read_ratings(file)
    counting, left_out = counted(
        file, ratings, bounds["min_judgments"], bounds["max_failed_controls"]
    )
    pairs = of_pairs(counting)
    known = {reference for reference, _ in pairs}
    references, selected_pairs, seen = [], 0, False
    for path in selected:
        verify(path)
        rows = read_rows(path, ParaphrasesRow, COLUMNS)
        for row in progress(rows, desc=f"ratings {path.stem}"):
            seen = seen or row["id"] in known
            reference = rated_reference(row, pairs, config["best"])
            if reference is not None:
                references.append(reference)
                selected_pairs += reference.listed
    # The references of a system that a rewriter writes may all be others than those rated.
    if not seen and "rewritten" not in config:
        raise InputError(
            f"evaluate.ratings: {file}: its ref_id are of no reference of this run (the first is "
            f"{counting[0].reference}); name ratings that were collected on its references"
        )
    if not references:
        print(
            f"warning: {file} has no rating of what {config['system']} selected; rate it with "
            "python -m workflow_scripts.judge.annotate",
            file=sys.stderr,
        )
    of_variants = {}
    for path in scored:
        verify(path)
    if config.get("variants"):
        outputs = (row for path in scored for row in read_rows(path, ScoredRow, SCORED, 64))
        of_variants = {"variants": variant_figures(outputs, pairs, config)}
    return {
        "ratings": len(counting),
        "annotators": len({rating.annotator for rating in counting}),
        "left_out": left_out,
        "agreement": agreement(counting, config["seed"]),
        "references": len(references),
        "listed": selected_pairs,
        "figures": summary(references, config["best"], config["bootstrap"], config["seed"])
        if references
        else None,
        **of_variants,
    }


def write_ratings(
    config: dict[str, Any],
    folder: Path,
    scored: Path,
    ratings: Path,
    shards: int,
    output: Path,
    inputs: dict[str, str] | None = None,
) -> None:
    """Write what people say of one system's paraphrases.

    Args:
        config: see `rate_system`.
        folder: of the select stage.
        scored: folder of the score stage, for variants.
        ratings: of people (docs/annotate.md).
        shards: the number of shards of each folder.
        output: ratings.json; its record is `rating` beside it.
        inputs: the hash of the file of ratings, by its path.

    Raises:
        InputError: see `unchanged` and `rate_system`.
    """
    selected, outputs = shard_paths(folder, shards), shard_paths(scored, shards)
    with unchanged(inputs or {}):
        rated = rate_system(config, selected, outputs, ratings)
    write_json(output, rated)
    references = rated["references"]
    write_record(output.with_name(RECORD), references, references, {}, files=[output])


main = command(write_ratings)

if __name__ == "__main__":
    run(main)
