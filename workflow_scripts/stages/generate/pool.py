"""One pool of candidates from several searches and several sources of a reference."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, tee
from typing import Any, NamedTuple, TypeAlias

from workflow_scripts.core.files.rows import (
    CandidatesRow,
    GeneratedCandidate,
    GeneratedSet,
    ReferenceRow,
    Side,
    WrittenRow,
)
from workflow_scripts.core.text.normalisation import letters_and_digits

# A reference and its sources: None for that of the bitext, a text for one that was written.
Sourced: TypeAlias = tuple[ReferenceRow, list[str | None]]
# What a search found for one reading, and counts for the record.
Found: TypeAlias = tuple[CandidatesRow, Counter[str]]


class Reading(NamedTuple):
    """What a search reads for a reference.

    Attributes:
        row: the reference.
        text: what the model reads.
        variant: names candidates where the constraints have no variants.
        seed: what the samples are seeded by, besides the seed of the run.
        source: `text`, where a backward model wrote it; None: it stands in the row.
    """

    row: ReferenceRow
    text: str
    variant: str
    seed: str
    source: str | None = None


def with_sources(row: ReferenceRow, written: WrittenRow, wanted: dict[str, Any]) -> Sourced:
    """Return a reference with its sources: that of the bitext, then the written ones.

    Texts that differ in case, punctuation and blanks alone are one source.

    Args:
        row: the reference.
        written: its written sources, best first.
        wanted: whether the `human` source is one, and how many `written` ones are taken, if there
            are as many.
    """
    human: list[str | None] = [None] if wanted["human"] else []
    known = {"", letters_and_digits(row["source"])} if human else {""}
    texts: list[str | None] = []
    for source in written["sources"]:
        key = letters_and_digits(source["text"])
        if key not in known:
            known.add(key)
            texts.append(source["text"])
    return row, [*human, *texts[: wanted["written"]]]


def sourced(
    rows: Iterable[ReferenceRow],
    written: Iterable[WrittenRow] | None,
    wanted: dict[str, Any] | None,
) -> Iterator[Sourced]:
    """Yield references with their sources; without written ones that of the bitext alone.

    Args:
        rows: the references.
        written: the written sources of each of them, in the same order.
        wanted: as `with_sources` takes it.
    """
    if written is None or wanted is None:
        return ((row, [None]) for row in rows)
    pairs = zip(rows, written, strict=True)
    return (with_sources(row, of_row, wanted) for row, of_row in pairs)


def readings(
    rows: Iterable[Sourced], name: str | None, system: str, side: Side
) -> Iterator[Reading]:
    """Yield what one search reads, reference by reference, source by source.

    A sample follows from the reference, the name of its search and the text that is read: other
    searches and sources change nothing.

    Args:
        rows: the references with their sources.
        name: of the search; None: it is the system's only one.
        system: its name.
        side: of the row, which is read where no source was written.
    """
    variant = name or system
    for row, sources in rows:
        for number, source in enumerate(sources, start=int(None not in sources)):
            yield Reading(
                row,
                row[side] if source is None else source,
                f"{variant}/{number}" if number else variant,
                " ".join(part for part in (name, row["id"], source) if part is not None),
                source,
            )


def side_by_side(
    rows: Iterable[Sourced], searches: Sequence[Callable[[Iterable[Sourced]], Iterator[Found]]]
) -> Iterator[Found]:
    """Yield each reference with the pool of all its searches, and the sums of their counts.

    The searches take turns, reference by reference: memory holds what one reads before another.

    Args:
        rows: the references with their sources.
        searches: each yields what it finds for every source of every reference, in their order.
    """
    rows, *copies = tee(rows, 1 + len(searches))
    streams = [search(copy) for search, copy in zip(searches, copies, strict=True)]
    for row, sources in rows:
        found = [part for stream in streams for part in islice(stream, len(sources))]
        total: Counter[str] = Counter()
        for _, counts in found:
            total.update(counts)
        yield pooled(row, (part for part, _ in found)), total


def pooled(row: ReferenceRow, found: Iterable[CandidatesRow]) -> CandidatesRow:
    """Return a reference with all that its searches found, in their order; sets count through."""
    pool: CandidatesRow = {
        **row,
        "sets": [],
        "dropped": 0,
        "blocked": 0,
        "unmet": 0,
        "candidates": [],
    }
    for part in found:
        first = len(pool["sets"])
        sets: list[GeneratedSet] = [{**each, "set": first + each["set"]} for each in part["sets"]]
        candidates: list[GeneratedCandidate] = [
            {**each, "set": first + each["set"]} for each in part["candidates"]
        ]
        pool["sets"] += sets
        pool["candidates"] += candidates
        pool["dropped"] += part["dropped"]
        pool["blocked"] += part["blocked"]
        pool["unmet"] += part["unmet"]
    return pool
