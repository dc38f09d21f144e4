"""The answers of a campaign as files: ratings for `paraloom ratings`, labels for `judge fit`."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from workflow_scripts.apps.annotate.items import BIN_ENDS, Item, Reference, bin_of
from workflow_scripts.apps.annotate.modes import Mode, label_of
from workflow_scripts.apps.annotate.store import Judged
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_text
from workflow_scripts.core.files.tsv import table_text
from workflow_scripts.core.text.normalisation import words
from workflow_scripts.stages.judge.rating_file import COLUMNS, CONTROL, OWN_COLUMNS

RATING_COLUMNS = (*COLUMNS, *OWN_COLUMNS)
LABEL_COLUMNS = (
    "id",
    "source",
    "reference",
    "paraphrase",
    "forward_nll",
    "backward_nll",
    "label",
)
MARK_COLUMNS = ("paraphrase_score", "strength", "fluency")


def export(path: Path, mode: Mode, judged: Sequence[Judged]) -> int:
    """Write the answers of a campaign; the file appears whole.

    Returns:
        The number of rows.

    Raises:
        InputError: there is no answer yet.
    """
    if not judged:
        raise InputError(f"{path} is not written: nobody has answered a page yet")
    if mode == "similarity":
        header, rows = RATING_COLUMNS, [*_ratings(judged)]
    else:
        marked = mode == "strength"
        header = (*LABEL_COLUMNS, *(MARK_COLUMNS if marked else ()))
        rows = [*_labels(judged, marked)]
    write_text(path, table_text(header, rows))
    return len(rows)


def _text(value: float | int | str | None) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _nll(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _ratings(judged: Sequence[Judged]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each judgment. People are numbers, so that nobody's name is given away."""
    for judgment in judged:
        item, reference = judgment.item, judgment.reference
        yield (
            str(judgment.annotator),
            reference.id,
            str(len(words(reference.text))),
            " ".join(item.systems) if item else CONTROL,
            item.paraphrase if item else reference.text,
            _nll(item.forward_nll if item else None),
            _text(judgment.answer.score),
            _text(judgment.answer.grammar),
            reference.source or "",
            reference.text,
            _nll(item.backward_nll if item else None),
        )


def middle(values: Sequence[int]) -> int:
    """Return the middle one of some marks; of two in the middle the lower one."""
    return sorted(values)[(len(values) - 1) // 2]


def _labels(judged: Sequence[Judged], marked: bool) -> Iterator[tuple[str, ...]]:
    """Yield a row for each pair, with the middle one of what several people said."""
    answers: dict[tuple[Reference, Item], list[Judged]] = defaultdict(list)
    for judgment in judged:
        if judgment.item is not None:
            answers[judgment.reference, judgment.item].append(judgment)
    for (reference, item), said in answers.items():
        strength = [
            judgment.answer.strength for judgment in said if judgment.answer.strength is not None
        ]
        fluency = [
            judgment.answer.fluency for judgment in said if judgment.answer.fluency is not None
        ]
        labels = [judgment.answer.label for judgment in said if judgment.answer.label is not None]
        marks: tuple[str, ...] = ()
        if marked:
            pair = middle(strength), middle(fluency)
            label = label_of(*pair)
            marks = (_nll(item.paraphrase_score), *map(str, pair))
        else:
            label = "BAG"[middle(["BAG".index(letter) for letter in labels])]
        yield (
            reference.id,
            reference.source or "",
            reference.text,
            item.paraphrase,
            _nll(item.forward_nll),
            _nll(item.backward_nll),
            label,
            *marks,
        )


def table_of_marks(judged: Sequence[Judged]) -> list[list[object]]:
    """Return the rows of ParaNMT's Table 3: how many pairs of a range have which mark.

    Each row has the range, its pairs, then those with paraphrase strength 1, 2, 3 and those with
    fluency 1, 2, 3. Pairs that several people marked have the middle mark.
    """
    marks: dict[Item, list[tuple[int, int]]] = defaultdict(list)
    for judgment in judged:
        if judgment.item and judgment.answer.strength and judgment.answer.fluency:
            marks[judgment.item].append((judgment.answer.strength, judgment.answer.fluency))
    counts = [[0] * 6 for _ in BIN_ENDS]
    for item, of_item in marks.items():
        if item.paraphrase_score is not None:
            row = counts[bin_of(item.paraphrase_score)]
            strength, fluency = (middle([pair[side] for pair in of_item]) for side in (0, 1))
            row[strength - 1] += 1
            row[2 + fluency] += 1
    starts = ["", *(f"{end:g}" for end in BIN_ENDS[:-1])]
    return [
        [f"({start}, {end:g}]" if start else f"up to {end:g}", sum(row[:3]), *row]
        for start, end, row in zip(starts, BIN_ENDS, counts, strict=True)
    ]
