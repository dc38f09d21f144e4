"""People's ratings of paraphrases, in the format of ParaBank's (Hu et al., AAAI 2019, section 5).

A file is UTF-8 with a header, tab separated, without quotes. A row is one person's judgment of one
paraphrase of one reference. docs/annotate.md has the columns; others may stand beside them.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.tsv import number_of, read_rows

COLUMNS = (
    "worker_id_anon",
    "ref_id",
    "ref_len",
    "sys_id",
    "candidate",
    "NLL",
    "human_score",
    "gm",
)
# Beside those of ParaBank: what a judge is fitted with, where the ratings are of our own.
OWN_COLUMNS = ("source", "ref_sent", "backward_nll")
# A file may lack it: the aggregates don't need it.
OPTIONAL = "NLL"
# The system of the controls: the reference itself, hidden among its paraphrases.
CONTROL = "0"
# What an annotator who reads gives a control.
PERFECT = 100.0
# Values of `gm`.
NONSENSICAL, UNGRAMMATICAL, GRAMMATICAL = 0, 1, 2


@dataclass(frozen=True)
class Rating:
    """One person's judgment of one paraphrase: a row of a ratings file."""

    annotator: str
    reference: str
    """The reference's id."""
    length: str
    """Of the reference, as the file has it."""
    systems: tuple[str, ...]
    """Those that gave this paraphrase; `CONTROL` says that it is the reference itself."""
    paraphrase: str
    nll: float | None
    """Forward NLL per target token, in nats; None where it is not known."""
    score: float | None
    """Semantic similarity, 0 to 100; None where it was not given, as for nonsense."""
    grammar: int
    """`NONSENSICAL`, `UNGRAMMATICAL` or `GRAMMATICAL`."""
    source: str | None = None
    """Text of the foreign sentence; None where the file has none, as ParaBank's."""
    reference_text: str | None = None
    backward_nll: float | None = None

    @property
    def control(self) -> bool:
        """Whether the row is a control."""
        return CONTROL in self.systems


class Pair(NamedTuple):
    """A reference and a paraphrase: what several people rate."""

    reference: str
    length: str
    paraphrase: str


def read_ratings(path: Path) -> list[Rating]:
    """Return the ratings of a file, in its order.

    Where people rated a paraphrase again, each rating counts, as in ParaBank's tables; that is told
    on standard error.

    Raises:
        InputError: the file can't be read, lacks a column or has no rating; a row has another
            number of fields than the header, a value that is none of its column's, or another
            length of its reference than an earlier row.
    """
    ratings = list(_ratings(path))
    if not ratings:
        raise InputError(f"{path} has a header and no rating")
    return ratings


def _ratings(path: Path) -> Iterator[Rating]:
    required = [name for name in COLUMNS if name != OPTIONAL]
    lengths: dict[str, tuple[str, int]] = {}
    lines: dict[tuple[str, str, str], int] = {}
    again: list[tuple[int, int]] = []
    for number, row in read_rows(path, required, (OPTIONAL, *OWN_COLUMNS)):
        try:
            rating = _rating(row)
        except ValueError as error:
            raise InputError(f"{path}, line {number}: {error}") from error
        length, first = lengths.setdefault(rating.reference, (rating.length, number))
        if length != rating.length:
            raise InputError(
                f"{path}, line {number}: ref_len {rating.length} of reference "
                f"{rating.reference}, which has {length} in line {first}; correct one of them"
            )
        if not rating.control:  # a reference is a control on several pages
            rated = (rating.annotator, rating.reference, rating.paraphrase)
            if (before := lines.setdefault(rated, number)) != number:
                again.append((before, number))
        yield rating
    if again:
        before, number = again[0]
        print(
            f"warning: {path}: {len(again)} ratings are of a paraphrase that the same person had "
            f"rated, as line {number} after line {before}; each counts: take out what shall not",
            file=sys.stderr,
        )


def _rating(row: dict[str, str]) -> Rating:
    """Return the rating of a row.

    Raises:
        ValueError: a field has no value of its column.
    """
    for name in ("worker_id_anon", "ref_id", "ref_len", "candidate"):
        if not row[name].strip():
            raise ValueError(f"{name} is empty")
    systems = tuple(dict.fromkeys(row["sys_id"].split()))
    if not systems:
        raise ValueError("sys_id is empty; it has one system or several, with blanks between")
    score = number_of(row, "human_score")
    if score is not None and not 0 <= score <= PERFECT:
        raise ValueError(f"human_score {row['human_score']} is not from 0 to 100")
    grammar = number_of(row, "gm")
    if grammar not in (NONSENSICAL, UNGRAMMATICAL, GRAMMATICAL):
        raise ValueError(
            f"gm '{row['gm']}' is not 0 (nonsensical), 1 (ungrammatical) or 2 (grammatical)"
        )
    return Rating(
        annotator=row["worker_id_anon"],
        reference=row["ref_id"],
        length=row["ref_len"],
        systems=systems,
        paraphrase=row["candidate"],
        nll=_nll(row, OPTIONAL),
        score=score,
        grammar=int(grammar),
        source=row.get("source") or None,
        reference_text=row.get("ref_sent") or None,
        backward_nll=_nll(row, "backward_nll"),
    )


def _nll(row: dict[str, str], name: str) -> float | None:
    """Return an NLL. ParaBank's file has -1 where none is known, and -2 for controls."""
    number = number_of(row, name)
    return None if number is None or number < 0 else number


def reference_texts(ratings: Sequence[Rating]) -> dict[str, str]:
    """Return the texts of references by id: as the file has them, or else as controls show them."""
    controls = {rating.reference: rating.paraphrase for rating in ratings if rating.control}
    texts = {rating.reference: rating.reference_text for rating in ratings if rating.reference_text}
    return controls | texts
