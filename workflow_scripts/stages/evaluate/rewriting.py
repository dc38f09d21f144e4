"""A system that a rewriter writes beside one of the forward model (ParaBank, Tables 6 and 7).

Both are compared over the same references, variant by variant: those that have an output of the
variant in both systems. All distinct outputs of a variant count, whether or not they were
selected. The semantic score is the cosine of an encoder that no training has seen, x 100, where the
paper asks people; the modified BLEU is the paper's. docs/rewrite-kinds.md says what the paper's
deviations are of.
"""

import heapq
import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device, choose_device
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.manifest import shard_paths, verify, write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ScoredRow
from workflow_scripts.core.progress import progress
from workflow_scripts.core.seeding import fraction
from workflow_scripts.core.text.normalisation import letters_and_digits
from workflow_scripts.encoding.sentence_vectors import encoder_folder, load_encoder
from workflow_scripts.stages.evaluate.exact_lengths import LENGTHS, PAIRS
from workflow_scripts.stages.evaluate.modified_bleu import modified_bleu
from workflow_scripts.stages.judge.features import Models, compute
from workflow_scripts.stages.judge.known_pairs import Pairs
from workflow_scripts.testbed.checker import Checker

# The record of rewriting.json: its own name would be that of a shard's.
RECORD = "pairing"
COLUMNS = ["id", "reference", "corpus", "candidates"]
# References whose outputs are encoded together: some thousands of sentences.
WINDOW = 128
# References that are shown with all their paraphrases.
EXAMPLES = 5
# The last bits of an encoder's vectors differ between processors.
_DIGITS = 4


class Output(NamedTuple):
    """An output of a variant, and what is known of it; `exact` is None outside the testbed."""

    reference: str
    text: str
    similarity: float
    exact: bool | None


@dataclass
class Sample:
    """Sums over the outputs of some references, and those pairs that the modified BLEU is of.

    The pairs are those of the least numbers, which follow from the references' ids alone, so two
    systems are measured on the same references.
    """

    outputs: int = 0
    similarities: list[float] = field(default_factory=list)
    drawn: list[tuple[float, int, str, str]] = field(default_factory=list)

    def add(self, number: float, outputs: Sequence[Output]) -> None:
        """Add a reference with its outputs; `number` orders the draw."""
        self.outputs += len(outputs)
        # Of a sentence without a known token there is none.
        similarities = (output.similarity for output in outputs)
        self.similarities += [cosine for cosine in similarities if math.isfinite(cosine)]
        pairs = [(number, place, one.reference, one.text) for place, one in enumerate(outputs)]
        self.drawn = heapq.nsmallest(PAIRS, [*self.drawn, *pairs])

    def result(self) -> dict[str, Any]:
        """Return `outputs`, `similarity`, `modified_bleu`, and of how many pairs that is."""
        return {
            "outputs": self.outputs,
            "similarity": over(self.similarities),
            "modified_bleu": modified_bleu([pair[2:] for pair in self.drawn]),
            "drawn": len(self.drawn),
        }


def over(values: Sequence[float]) -> dict[str, float | None]:
    """Return the mean of some values, and their sample standard deviation; None without enough."""
    deviation = round(statistics.stdev(values), _DIGITS) if len(values) > 1 else None
    return {
        "mean": round(statistics.fmean(values), _DIGITS) if values else None,
        "deviation": deviation,
    }


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


class Side:
    """Running sums of one variant of one system."""

    def __init__(self) -> None:
        self._all = Sample()
        self._lengths = {length: Sample() for length in LENGTHS}
        self._copies = 0
        self._exact: list[bool] = []

    def add(self, number: float, outputs: Sequence[Output]) -> None:
        """Add a reference with its outputs of the variant."""
        self._all.add(number, outputs)
        reference = outputs[0].reference
        if sample := self._lengths.get(len(reference.split())):
            sample.add(number, outputs)
        key = letters_and_digits(reference)
        self._copies += sum(letters_and_digits(output.text) == key for output in outputs)
        self._exact += [output.exact for output in outputs if output.exact is not None]

    def result(self) -> dict[str, Any]:
        """Return the figures of all outputs, of each exact length, and over these lengths.

        `over_lengths` is what the paper prints: mean and sample deviation of the figures of the
        lengths, of those that have an output.
        """
        lengths = [{"length": length, **one.result()} for length, one in self._lengths.items()]
        known = [figures for figures in lengths if figures["outputs"]]
        return {
            **self._all.result(),
            "copies": self._copies,
            "exact": round(100 * statistics.fmean(self._exact), _DIGITS) if self._exact else None,
            "exact_lengths": lengths,
            "over_lengths": {
                "lengths": len(known),
                "similarity": over(_known(figures["similarity"]["mean"] for figures in known)),
                "modified_bleu": over(_known(figures["modified_bleu"] for figures in known)),
            },
        }


class Judges:
    """What says how close an output is: an encoder, and on the testbed a parser."""

    def __init__(self, models: Models, checker: Checker | None, testbed: Iterable[str]):
        self._models = models
        self._checker = checker
        self._testbed = frozenset(testbed)

    def outputs(self, rows: Sequence[ScoredRow]) -> list[list[Output]]:
        """Return the candidates of each row, judged, in their order."""
        pairs = [(row["reference"], one["text"]) for row in rows for one in row["candidates"]]
        if not pairs:
            return [[] for _ in rows]
        references, texts = (list(side) for side in zip(*pairs, strict=True))
        features = compute(Pairs(references, texts), ["cosine"], self._models)
        cosines = iter(100 * features["cosine"])
        return [
            [
                Output(
                    row["reference"],
                    candidate["text"],
                    float(next(cosines)),
                    self._exact(row, candidate["text"]),
                )
                for candidate in row["candidates"]
            ]
            for row in rows
        ]

    def _exact(self, row: ScoredRow, text: str) -> bool | None:
        if self._checker is None or row["corpus"] not in self._testbed:
            return None
        return self._checker.same_meaning(row["reference"], text)


def by_variant(row: ScoredRow, outputs: Sequence[Output]) -> dict[str, list[Output]]:
    """Return the outputs of each variant; one that several variants share counts for each."""
    variants: dict[str, list[Output]] = {}
    for candidate, output in zip(row["candidates"], outputs, strict=True):
        for name in candidate["variant"].split():
            variants.setdefault(name, []).append(output)
    return variants


def beside(
    rows: Iterable[ScoredRow], others: Iterable[ScoredRow]
) -> Iterator[tuple[ScoredRow, ScoredRow]]:
    """Yield the rows of a system with those of another one of the same references.

    Args:
        rows: of a system that may leave references out.
        others: of one that has them all, in the same order.

    Raises:
        InputError: it lacks one.
    """
    others = iter(others)
    for row in rows:
        other = next((one for one in others if one["id"] == row["id"]), None)
        if other is None:
            raise InputError(
                f"evaluate.rewriting: reference {row['id']} is in one system alone; score again "
                "(snakemake --forcerun score)"
            )
        yield row, other


class Comparison:
    """Running sums of a system that a rewriter writes and of one of the forward model."""

    def __init__(self, variants: Sequence[str], seed: int):
        self._seed = seed
        self.references = 0
        self._shared = dict.fromkeys(variants, 0)
        self._sides = {name: (Side(), Side()) for name in variants}

    def add(
        self, identifier: str, first: dict[str, list[Output]], second: dict[str, list[Output]]
    ) -> None:
        """Add a reference with the outputs of each variant in both systems, bilingual first."""
        self.references += 1
        number = fraction(self._seed, "rewriting", identifier)
        for name, sides in self._sides.items():
            if name in first and name in second:
                self._shared[name] += 1
                sides[0].add(number, first[name])
                sides[1].add(number, second[name])

    def result(self) -> dict[str, Any]:
        """Return the entry of rewriting.json."""
        return {
            "references": self.references,
            "variants": {
                name: {
                    "references": self._shared[name],
                    "bilingual": first.result(),
                    "monolingual": second.result(),
                }
                for name, (first, second) in self._sides.items()
            },
        }


def paraphrases(row: ScoredRow) -> list[str]:
    """Return the distinct paraphrases of a reference, of all variants, in their order (Table 7).

    What differs in case, punctuation and blanks alone is one; a copy of the reference is none.
    """
    seen = {letters_and_digits(row["reference"])}
    distinct = []
    for candidate in row["candidates"]:
        key = letters_and_digits(candidate["text"])
        if key not in seen:
            seen.add(key)
            distinct.append(candidate["text"])
    return distinct


def compare(
    shards: Sequence[tuple[Path, Path]], variants: Sequence[str], judges: Judges, seed: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Compare two systems, whose shards are given two by two, bilingual first.

    Returns:
        The entry of rewriting.json, and examples (`reference`, `paraphrases`): references that are
        drawn by their ids, with all that the rewriter wrote of them.
    """
    comparison = Comparison(variants, seed)
    drawn: list[tuple[float, str, list[str]]] = []
    for bilingual, monolingual in shards:
        rows, others = (
            read_rows(path, ScoredRow, COLUMNS, 64) for path in (monolingual, bilingual)
        )
        pairs = iter(progress(beside(rows, others), desc=f"rewriting {monolingual.stem}"))
        while window := list(islice(pairs, WINDOW)):
            both = [list(side) for side in zip(*window, strict=True)]
            judged = [judges.outputs(side) for side in both]
            for (row, other), own, theirs in zip(window, *judged, strict=True):
                comparison.add(row["id"], by_variant(other, theirs), by_variant(row, own))
                example = (fraction(seed, "example", row["id"]), row["reference"], paraphrases(row))
                drawn = heapq.nsmallest(EXAMPLES, [*drawn, example])
    examples = [{"reference": text, "paraphrases": listed} for _, text, listed in drawn]
    return comparison.result(), examples


def compare_systems(
    config: dict[str, Any],
    scored: Path,
    bilingual: dict[str, Path],
    shards: int,
    output: Path,
    device: Device = "auto",
) -> None:
    """Compare a system that a rewriter writes with systems of the forward model.

    Args:
        config: `bilingual`, the variants that are compared by the names of those systems;
            `testbed`, its corpora; and `seed`.
        scored: folder of the score stage, of the rewriter's system.
        bilingual: the same of the others, by their names.
        output: rewriting.json; its record is `pairing` beside it.

    Raises:
        InputError: a file is damaged; or see `beside`.
    """
    own = shard_paths(scored, shards)
    others = {name: shard_paths(folder, shards) for name, folder in bilingual.items()}
    for path in [*own, *(path for paths in others.values() for path in paths)]:
        verify(path)
    models = Models(encoder=load_encoder(encoder_folder(), choose_device(device).type))
    judges = Judges(models, Checker() if config["testbed"] else None, config["testbed"])
    compared: dict[str, Any] = {}
    examples: list[dict[str, Any]] = []
    for name, paths in others.items():
        both = list(zip(paths, own, strict=True))
        variants = config["bilingual"][name]
        compared[name], examples = compare(both, variants, judges, config["seed"])
    write_json(output, {"bilingual": compared, "examples": examples})
    references = sum(comparison["references"] for comparison in compared.values())
    write_record(output.with_name(RECORD), references, references, {}, files=[output])


main = command(compare_systems, __name__)
