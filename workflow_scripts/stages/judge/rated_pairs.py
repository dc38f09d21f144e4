"""Read judged pairs: labels (good, acceptable, bad), or ratings as ParaBank's."""

import math
import sys
from collections.abc import Collection
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import sha256
from workflow_scripts.core.files.tsv import read_rows
from workflow_scripts.core.statistics.numbers import finite
from workflow_scripts.stages.judge import rating_file
from workflow_scripts.stages.judge.fitting import Examples
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs

LABEL_COLUMNS = ("source", "reference", "paraphrase", "forward_nll", "backward_nll", "label")
_COMPARED = ("lost", "divergence")
TEXT_COLUMNS = ("ref_id", "ref_sent")
# How good a pair is, by the first letter of its label.
_TARGETS = {"g": 1.0, "a": 0.5, "b": 0.0}
# The words of the reference in the same order are no paraphrase.
_COPY = "copy"
_LABELS = {"good": "g", "acceptable": "a", "bad": "b", "g": "g", "a": "a", "b": "b"}
# ParaBank's file writes this where no NLL is known.
UNKNOWN_NLL = -1.0
# An annotator of few ratings counts partly as all annotators together.
_SHARED_RATINGS = 20


def nll_of(text: str, path: Path, line: int) -> float:
    """Return an NLL in nats per token; NaN if there is none, or it is ParaBank's -1.

    Raises:
        InputError: it is no number, not finite, or negative.
    """
    if not text.strip():
        return math.nan
    try:
        number = finite(text)
    except ValueError as error:
        raise InputError(
            f"{path}, line {line}: {error}; write nats per token, or leave it empty"
        ) from error
    if number < 0 and number != UNKNOWN_NLL:
        raise InputError(
            f"{path}, line {line}: {text.strip()!r} is no NLL, which is never negative; write nats "
            "per token, or leave it empty"
        )
    return math.nan if number < 0 else number


def _number_of(row: dict[str, str], column: str, path: Path, line: int) -> float:
    """Return a number of a table; NaN if the field is empty, or there is no such column.

    Raises:
        InputError: it is no number.
    """
    text = row.get(column, "").strip()
    try:
        return finite(text) if text else math.nan
    except ValueError as error:
        raise InputError(f"{path}, line {line}: {column}: {error}; or leave it empty") from error


def read_labels(*paths: Path, splits: Collection[str] = ()) -> Examples:
    """Read labels: id, source, reference, paraphrase, forward_nll, backward_nll, label.

    There may be `lost` and `divergence` in nats, as the stage `score` has them.
    A label is good, acceptable or bad, or its first letter. Those that are `copy` are left out,
    and their number is told on standard error.

    Args:
        paths: of files that were labelled in the same way; their pairs stand together.
        splits: the pairs whose column `split` has one of these; none: all of them.

    Raises:
        InputError: a line is not as it should be, or there is none.
    """
    table: list[dict[str, str]] = []
    nlls: list[tuple[float, float]] = []
    compared: list[list[float]] = []
    copies = 0
    for path in paths:
        for number, row in read_rows(path, (*LABEL_COLUMNS, *(["split"] if splits else []))):
            if splits and row["split"] not in splits:
                continue
            label = row["label"].strip().lower()
            if label == _COPY:
                copies += 1
                continue
            if label not in _LABELS:
                raise InputError(
                    f"{path}, line {number}: the label is {row['label']!r}; write good, acceptable "
                    "or bad, or G, A or B"
                )
            _check_texts(path, number, row["reference"], row["paraphrase"])
            table.append({**row, "label": _LABELS[label]})
            forward, backward = row["forward_nll"], row["backward_nll"]
            nlls.append((nll_of(forward, path, number), nll_of(backward, path, number)))
            compared.append([_number_of(row, column, path, number) for column in _COMPARED])
    names = ", ".join(map(str, paths)) + (f" (split {', '.join(splits)})" if splits else "")
    if copies:
        print(f"{names}: {copies} copies of their references are left out", file=sys.stderr)
    letters = np.array([row["label"] for row in table])
    forward, backward = np.array(nlls, np.float64).reshape(-1, 2).T
    lost, divergence = np.array(compared, np.float64).reshape(-1, 2).T
    pairs = Pairs(
        [row["reference"] for row in table],
        [row["paraphrase"] for row in table],
        [row["source"] for row in table],
        forward_nll=_column(forward),
        backward_nll=_column(backward),
        lost=_column(lost),
        divergence=_column(divergence),
    )
    target = np.array([_TARGETS[letter] for letter in letters], np.float64)
    good, bad = letters == "g", letters == "b"
    sources = tuple(
        {**_source(path), **({"splits": sorted(splits)} if splits else {})} for path in paths
    )
    return Examples("labels", _some(pairs, names), target, good, bad, None, {}, sources)


def read_ratings(path: Path, texts: Path, good: float) -> Examples:
    """Read ratings of several annotators: a line for each of a pair, as ParaBank's candidates.tsv.

    Controls (system 0) and pairs without a rating are left out. The target is the mean of the
    pair's ranks among all ratings of each annotator, as annotators use the scale in their own ways.

    Args:
        path: of the ratings.
        texts: the references' texts: ref_id, ref_sent.
        good: a pair is good whose mean rating is at least this.

    Raises:
        InputError: a line is not as it should be, a reference has no text or two, or there is none.
    """
    references = _reference_texts(texts)
    places: dict[tuple[str, str], int] = {}
    nlls: list[list[float]] = []
    ratings: list[tuple[int, str, float]] = []
    for rating in rating_file.read_ratings(path):
        if rating.control or rating.score is None:
            continue
        if not references.get(rating.reference, "").strip():
            raise InputError(
                f"{path}: reference {rating.reference!r} has no text in {texts}; add it"
            )
        place = places.setdefault((rating.reference, rating.paraphrase), len(places))
        nlls += [[]] if place == len(nlls) else []
        nlls[place] += [] if rating.nll is None else [rating.nll]
        ratings.append((place, rating.annotator, rating.score))
    at = np.array([place for place, _, _ in ratings], np.intp)
    scores = np.array([score for _, _, score in ratings])
    counts = np.bincount(at)
    mean = np.bincount(at, scores) / counts
    ranks = _own_ranks(scores, np.array([worker for _, worker, _ in ratings]))
    mean_nlls = np.array([np.mean(of_pair) if of_pair else np.nan for of_pair in nlls])
    pairs = Pairs(
        [references[reference] for reference, _ in places],
        [candidate for _, candidate in places],
        forward_nll=_column(mean_nlls),
    )
    target = np.bincount(at, ranks) / counts
    enough = mean >= good
    source = {**_source(path), "texts": _source(texts), "good_from": good}
    return Examples(
        "ratings", _some(pairs, str(path)), target, enough, ~enough, mean, {}, (source,)
    )


def _reference_texts(path: Path) -> dict[str, str]:
    """Return the texts of references by id; an id may stand in many rows, as in exported ratings.

    Raises:
        InputError: a reference has two texts.
    """
    found: dict[str, tuple[str, int]] = {}
    for number, row in read_rows(path, TEXT_COLUMNS):
        text, first = found.setdefault(row["ref_id"], (row["ref_sent"], number))
        if text != row["ref_sent"]:
            raise InputError(
                f"{path}, line {number}: reference {row['ref_id']!r} has another text in line "
                f"{first}; correct one of them"
            )
    return {reference: text for reference, (text, _) in found.items()}


def _own_ranks(scores: Numbers, workers: NDArray[np.str_]) -> Numbers:
    """Return the rank of each rating among its annotator's, between 0 and 1, ties in the middle."""
    ranks = rankdata(scores) / len(scores) if len(scores) else scores
    result = np.zeros(len(scores))
    for worker in np.unique(workers):
        rows = workers == worker
        count = rows.sum()
        own_ranks = rankdata(scores[rows]) / (count + 1)
        weighted = count * own_ranks + _SHARED_RATINGS * ranks[rows]
        result[rows] = weighted / (count + _SHARED_RATINGS)
    return result


def _check_texts(path: Path, line: int, reference: str, paraphrase: str) -> None:
    for what, text in (("reference", reference), ("paraphrase", paraphrase)):
        if not text.strip():
            raise InputError(f"{path}, line {line}: the {what} is empty; take the line out")


def _column(values: Numbers) -> Numbers | None:
    return None if np.isnan(values).all() else values


def _some(pairs: Pairs, names: str) -> Pairs:
    if not len(pairs):
        raise InputError(f"{names}: no judged pair; give a file with some")
    return pairs


def _source(path: Path) -> dict[str, str]:
    return {"file": path.name, "sha256": sha256(path)}
