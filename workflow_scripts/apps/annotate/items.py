"""What is rated: pairs that the systems of a run selected, or those of a file."""

import heapq
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files import tsv
from workflow_scripts.core.files.manifest import sha256, shard_paths, verify
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairValueRow, ParaphrasesRow
from workflow_scripts.core.seeding import fraction
from workflow_scripts.plan.config import Config
from workflow_scripts.plan.run.run_folders import read_config
from workflow_scripts.stages.judge.rating_file import CONTROL

# The ends of ParaNMT's ranges of the paraphrase score (Table 3); the first has all lower ones.
BIN_ENDS = (0.2, 0.4, 0.6, 0.8, 1.0)
# Kinds of columns that are a paraphrase score: the cosine of the two sides.
PARAPHRASE_SCORES = ("vectors", "embedding")
REQUIRED = ("id", "reference", "paraphrase")
OPTIONAL = ("source", "system", "forward_nll", "backward_nll", "paraphrase_score")
# A file of pairs may not say who gave them.
NO_SYSTEM = "pairs"


@dataclass(frozen=True)
class Reference:
    """A sentence that is paraphrased."""

    id: str
    text: str
    source: str | None = None


@dataclass(frozen=True)
class Item:
    """A paraphrase of a reference, and the systems that gave it."""

    reference: str
    """The reference's id."""
    paraphrase: str
    systems: tuple[str, ...]
    forward_nll: float | None = None
    backward_nll: float | None = None
    paraphrase_score: float | None = None


@dataclass(frozen=True)
class Material:
    """What a campaign is about."""

    references: list[Reference]
    items: list[Item]


@dataclass(frozen=True)
class Wanted:
    """Which pairs of a run are rated."""

    references: int
    """How many, drawn by the seed among those with a paraphrase. Bins don't count references."""
    systems: Sequence[str]
    best: int | None
    """How many paraphrases of each system, the best first; None: all."""
    corpora: Sequence[str] | None
    """Of the references; None: all."""
    per_bin: int | None
    """How many pairs of each range of the paraphrase score; None: whole references."""
    column: str | None
    """The run's column that is the paraphrase score."""
    seed: int


def bin_of(score: float) -> int:
    """Return the number of the range that holds a paraphrase score, from 0.

    A range has its upper end, not its lower one.
    """
    return next(
        number for number, end in enumerate(BIN_ENDS) if score <= end or end == BIN_ENDS[-1]
    )


def _found(
    pairs: Iterable[tuple[Reference, Item]],
) -> dict[tuple[str, str], tuple[Reference, Item]]:
    """Return each pair once, with all its systems; what else is known is what is first said."""
    merged: dict[tuple[str, str], tuple[Reference, Item]] = {}
    for reference, item in pairs:
        key = (item.reference, item.paraphrase)
        if key not in merged:
            merged[key] = (reference, item)
            continue
        reference, first = merged[key]
        systems = tuple(dict.fromkeys([*first.systems, *item.systems]))
        known = (
            getattr(item if getattr(first, name) is None else first, name) for name in OPTIONAL[2:]
        )
        merged[key] = (reference, Item(*key, systems, *known))
    return merged


def _material(pairs: Iterable[tuple[Reference, Item]], where: str) -> Material:
    """Return the pairs as they are rated.

    Raises:
        InputError: there is none, or a text can't stand in a line of the export.
    """
    references: dict[str, Reference] = {}
    items = []
    for reference, item in pairs:
        for text in (reference.id, reference.text, reference.source or "", item.paraphrase):
            if {"\t", "\n", "\r"}.intersection(text):
                raise InputError(
                    f"{where}: {reference.id} has a text with a tab or a line feed, which no row "
                    "of ratings can hold; take them out"
                )
        references.setdefault(reference.id, reference)
        items.append(item)
    if not items:
        raise InputError(f"{where}: no paraphrase to rate")
    return Material(list(references.values()), items)


def _by_bin(
    pairs: Iterable[tuple[Reference, Item]], per_bin: int, seed: int
) -> list[tuple[Reference, Item]]:
    """Return `per_bin` pairs of each range of the paraphrase score, or all if it has fewer."""
    bins: list[list[tuple[Reference, Item]]] = [[] for _ in BIN_ENDS]
    for reference, item in pairs:
        if item.paraphrase_score is not None:
            bins[bin_of(item.paraphrase_score)].append((reference, item))

    def lot(pair: tuple[Reference, Item]) -> float:
        return fraction(seed, "annotate", pair[1].reference, pair[1].paraphrase)

    return [pair for some_bin in bins for pair in heapq.nsmallest(per_bin, some_bin, lot)]


# --- of a run ------------------------------------------------------------------------------------


def folder_of(run: Path, unit: str) -> Path:
    """Return the folder of a unit of a run, by the link's name.

    Raises:
        InputError: the unit is not finished.
    """
    folder = (run / unit).resolve()
    if not (folder / "manifest.json").exists():
        raise InputError(f"{run}: {unit} is not finished; see paraloom status")
    return folder


def run_systems(run: Path, named: Sequence[str] | None) -> list[str]:
    """Return the systems of a run whose paraphrases are rated: the named ones, or all.

    Raises:
        InputError: there is no such run, or no such system in it.
    """
    systems = [*read_config(run)["run"]["systems"]]
    for name in named or ():
        if name not in systems:
            raise InputError(f"--systems: {run} has no system {name}, but {', '.join(systems)}")
    return list(named or systems)


def run_units(run: Path, wanted: Wanted) -> list[str]:
    """Return what identifies the pairs of a run: stage, version and digest of its units.

    Raises:
        InputError: a unit is not finished, or there is no such column of the run.
    """
    names = [f"select.{system}" for system in wanted.systems]
    if wanted.column is not None:
        _check_column(run, wanted.column)
        scores = {system: f"filter.{wanted.column}-{system}" for system in wanted.systems}
        # A run has links to all its units from its start.
        if lacking := [system for system, unit in scores.items() if not (run / unit).is_symlink()]:
            raise InputError(
                f"--column: {run} makes no {wanted.column} of {', '.join(lacking)}; name the "
                "column in evaluate.columns of its configuration, and run it again"
            )
        names += scores.values()
    return [f"{name}/{folder_of(run, name).name}" for name in names]


def _check_column(run: Path, column: str) -> None:
    catalogue = read_config(run)["columns"]
    scores = [name for name, block in catalogue.items() if next(iter(block)) in PARAPHRASE_SCORES]
    if column not in scores:
        raise InputError(
            f"--column: {column} is no paraphrase score of {run}; those in its catalogue are: "
            f"{', '.join(scores) or 'none'}"
        )


def of_run(run: Path, wanted: Wanted) -> Material:
    """Return the pairs of a run that are rated, each once, with all systems that selected it.

    Raises:
        InputError: there is no such run, it is not finished, a file of it is damaged, or nothing
            is to be rated.
    """
    config = read_config(run)
    corpora = None if wanted.corpora is None else {*wanted.corpora}
    for name in sorted(corpora or ()):
        if name not in config["corpora"]:
            raise InputError(f"--corpora: {run} has no corpus {name}")
    if wanted.per_bin is not None:
        everything = (
            pair
            for system in wanted.systems
            for pair in _selected(run, config, system, wanted, corpora)
        )
        return _material(
            _by_bin(_found(everything).values(), wanted.per_bin, wanted.seed), str(run)
        )

    def lot(identifier: str) -> float:
        return fraction(wanted.seed, "annotate", identifier)

    drawn: set[str] = set()
    for system in wanted.systems:
        ids = {reference.id for reference, _ in _selected(run, config, system, wanted, corpora)}
        drawn = {*heapq.nsmallest(wanted.references, drawn | ids, lot)}
    chosen = (
        pair
        for system in wanted.systems
        for pair in _selected(run, config, system, wanted, corpora)
        if pair[0].id in drawn
    )
    return _material(_found(chosen).values(), str(run))


def _selected(
    run: Path, config: Config, system: str, wanted: Wanted, corpora: set[str] | None
) -> Iterator[tuple[Reference, Item]]:
    """Yield the pairs of a system."""
    count = config["shards"]["late"]
    columns = ["id", "source", "reference", "corpus", "paraphrases"]
    scores: Sequence[Path | None] = [None] * count
    if wanted.column is not None:
        scores = shard_paths(folder_of(run, f"filter.{wanted.column}-{system}"), count)
    selected = shard_paths(folder_of(run, f"select.{system}"), count)
    for path, values in zip(selected, scores, strict=True):
        verify(path)
        score = {} if values is None else _scores(values)
        for row in read_rows(path, ParaphrasesRow, columns):
            if corpora is not None and row["corpus"] not in corpora:
                continue
            reference = Reference(row["id"], row["reference"], row["source"])
            for paraphrase in row["paraphrases"][: wanted.best]:
                yield (
                    reference,
                    Item(
                        reference=row["id"],
                        paraphrase=paraphrase["text"],
                        systems=(system,),
                        forward_nll=_known(paraphrase["forward_nll"]),
                        backward_nll=_known(paraphrase["backward_nll"]),
                        paraphrase_score=score.get((row["id"], paraphrase["rank"])),
                    ),
                )


def _known(nll: float | None) -> float | None:
    """Return an NLL; None where the model can't read the text."""
    return nll if nll is not None and math.isfinite(nll) else None


def _scores(path: Path) -> dict[tuple[str, int], float]:
    verify(path)
    return {
        (row["id"], row["rank"]): row["value"]
        for row in read_rows(path, PairValueRow)
        if row["value"] is not None
    }


# --- of a file -----------------------------------------------------------------------------------


def of_file(path: Path, per_bin: int | None, seed: int) -> Material:
    """Return the pairs of a file: tab separated with a header that names the columns.

    Args:
        path: of the file; columns are `REQUIRED`, and those of `OPTIONAL` that it has.
        per_bin: how many pairs of each range of the paraphrase score; None: all.
        seed: of the draw.

    Raises:
        InputError: the file can't be read, a column or a value is missing or wrong, or lines of a
            pair have different numbers.
    """
    required = [*REQUIRED, *(["paraphrase_score"] if per_bin is not None else [])]
    pairs, known = [], dict[str, tuple[Reference, int]]()
    told: dict[tuple[str, str, str], tuple[float, int]] = {}
    for number, row in tsv.read_rows(path, required, OPTIONAL):
        try:
            reference, item = _pair(row)
        except ValueError as error:
            raise InputError(f"{path}, line {number}: {error}") from error
        other, first = known.setdefault(reference.id, (reference, number))
        if other != reference:
            what = "reference" if other.text != reference.text else "source"
            raise InputError(
                f"{path}, line {number}: the {what} of {reference.id} is another one than in "
                f"line {first}; an id stands for one reference and its source"
            )
        for name in OPTIONAL[2:]:
            value = getattr(item, name)
            if value is None:
                continue
            key = (item.reference, item.paraphrase, name)
            earlier, first = told.setdefault(key, (value, number))
            if earlier != value:
                raise InputError(
                    f"{path}, line {number}: {name} {value} of a pair that has {earlier} in "
                    f"line {first}; correct one of them"
                )
        pairs.append((reference, item))
    distinct = _found(pairs).values()
    return _material(distinct if per_bin is None else _by_bin(distinct, per_bin, seed), str(path))


def _pair(row: dict[str, str]) -> tuple[Reference, Item]:
    for name in REQUIRED:
        if not row[name].strip():
            raise ValueError(f"{name} is empty")
    systems = tuple(row.get("system", NO_SYSTEM).split())
    if not systems or CONTROL in systems:
        raise ValueError(f"system '{row['system']}': name one or several, and none '{CONTROL}'")
    reference = Reference(row["id"], row["reference"], row.get("source") or None)
    item = Item(
        row["id"],
        row["paraphrase"],
        systems,
        *(tsv.number_of(row, name) for name in OPTIONAL[2:]),
    )
    return reference, item


def identity_of_file(path: Path) -> str:
    """Return what identifies a file of pairs: the hash of its content.

    Raises:
        InputError: it can't be read.
    """
    try:
        return sha256(path)
    except OSError as error:
        raise InputError(f"--pairs: {path} can't be read: {error.strerror}") from error


def language(config: dict[str, Any]) -> str:
    """Return the code of the language that is paraphrased in a run."""
    return str(config["languages"]["reference"]["code"])
