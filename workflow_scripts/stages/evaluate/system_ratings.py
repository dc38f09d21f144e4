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
        return next((each for each in self.rated if each.rank == wanted), None)

    def _by_score(self) -> list[Rated]:
        """Those with a score, the highest first; of equal ones the better rank first."""
        scored = [each for each in self.rated if each.similarity is not None]
        return sorted(scored, key=lambda each: (-(each.similarity or 0.0), each.rank))

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
    found: dict[tuple[str, str], list[Rating]] = {}
    for each in ratings:
        if set(each.systems) != {CONTROL}:
            found.setdefault((each.reference, each.paraphrase), []).append(each)
    return found


def rated_reference(row: ParaphrasesRow, ratings: Ratings, best: int) -> RatedReference | None:
    """Return a row of the `paraphrases` schema with its ratings; None if it has none."""
    listed = row["paraphrases"][:best]
    rated = [
        Rated(rank, each["text"], similarity(given), grammatical(given))
        for rank, each in enumerate(listed, start=1)
        if (given := ratings.get((row["id"], each["text"])))
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
    rows: list[list[list[Rated]]] = [[each.rated for each in references]]
    rows += [
        [[found] if (found := each.at(rank)) else [] for each in references]
        for rank in range(1, best + 1)
    ]
    rows += [
        [[found] if (found := choose(each)) else [] for each in references]
        for choose in ORACLES.values()
    ]
    sums = np.zeros((len(references), len(rows), 4))
    for column, row in enumerate(rows):
        for number, rated in enumerate(row):
            for each in rated:
                add_sums(sums[number, column], each.similarity, each.grammatical)
    intervals = figure_intervals(sums, samples, seed)
    everything, *others = (
        {**_figures(row), "interval": each, **_differences(references, row)}
        for row, each in zip(rows, intervals, strict=True)
    )
    spans = [place(len(words(each.text))) for each in references]
    starts = [0, *(end + 1 for end in ENDS)]
    return {
        "all": everything,
        "by_length": [
            {
                **{"from": start, "to": end},
                **_figures([r for r, at in zip(rows[0], spans, strict=True) if at == span]),
            }
            for span, (start, end) in enumerate(zip(starts, [*ENDS, None], strict=True))
        ],
        "exact_lengths": _exact_lengths((each.text, each.rated) for each in references),
        "ranks": [{"rank": rank, **each} for rank, each in enumerate(others[:best], start=1)],
        "oracles": [
            {"oracle": name, **each} for name, each in zip(ORACLES, others[best:], strict=True)
        ],
    }


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
    found: list[tuple[str, dict[str, list[Rated]]]] = []
    for row in rows:
        rated: dict[str, list[Rated]] = {}
        for each in row["candidates"]:
            if given := ratings.get((row["id"], each["text"])):
                one = Rated(1, each["text"], similarity(given), grammatical(given))
                for name in each["variant"].split():
                    rated.setdefault(name, []).append(one)
        if rated:
            found.append((row["reference"], rated))
    sums = np.zeros((max(len(found), 1), len(names), 4))
    for number, (_, rated) in enumerate(found):
        for column, name in enumerate(names):
            for one in rated.get(name, []):
                add_sums(sums[number, column], one.similarity, one.grammatical)
    intervals = figure_intervals(sums, config["bootstrap"], config["seed"])
    return {
        name: {
            **_figures(rated.get(name, []) for _, rated in found),
            "interval": interval,
            "exact_lengths": _exact_lengths((text, rated.get(name, [])) for text, rated in found),
        }
        for name, interval in zip(names, intervals, strict=True)
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
    pairs = [each for rated in row for each in rated]
    scores = [each.similarity for each in pairs if each.similarity is not None]
    return {
        "similarity": mean(sum(scores), len(scores)),
        "grammatical": mean(100.0 * sum(each.grammatical for each in pairs), len(pairs)),
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
        for each in rated:
            comparison.add(first, sentence(each.text))
    found = comparison.result()
    return {"one_minus_bleu": found["one_minus_bleu"], **found.get("words", {})}


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
    kept, without = counted(file, ratings, bounds["min_judgments"], bounds["max_failed_controls"])
    pairs = of_pairs(kept)
    known = {reference for reference, _ in pairs}
    references, selected_pairs, seen = [], 0, False
    for path in selected:
        verify(path)
        rows = read_rows(path, ParaphrasesRow, COLUMNS)
        for row in progress(rows, desc=f"ratings {path.stem}"):
            seen = seen or row["id"] in known
            found = rated_reference(row, pairs, config["best"])
            if found is not None:
                references.append(found)
                selected_pairs += found.listed
    # The references of a system that a rewriter writes may all be others than those rated.
    if not seen and "rewritten" not in config:
        raise InputError(
            f"evaluate.ratings: {file}: its ref_id are of no reference of this run (the first is "
            f"{kept[0].reference}); name ratings that were collected on its references"
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
        "ratings": len(kept),
        "annotators": len({each.annotator for each in kept}),
        "left_out": without,
        "agreement": agreement(kept, config["seed"]),
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
        found = rate_system(config, selected, outputs, ratings)
    write_json(output, found)
    references = found["references"]
    write_record(output.with_name(RECORD), references, references, {}, files=[output])


main = command(write_ratings)

if __name__ == "__main__":
    run(main)
