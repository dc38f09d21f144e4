"""Readers of tasks on pairs of sentences, in the formats of GLUE, of the originals and of SentEval.

Fields stand between tabs; a quote is a character like others (csv's QUOTE_NONE). What differs from
its format is an error, but for two things that the published files have and the known readers leave
out: rows of QQP that a line feed or a tab within a question broke, and pairs of MNLI on whose label
the annotators did not agree. Both are counted.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.lines import read_lines
from workflow_scripts.core.files.tsv import fields, read_rows
from workflow_scripts.core.statistics.numbers import finite
from workflow_scripts.plan.catalogues.encoder_tasks import chosen_files
from workflow_scripts.stages.embed.sts_readers import read_data_sets
from workflow_scripts.stages.encoder.tasks.examples import (
    Pair,
    TaskData,
    require_examples,
    task_data,
)

# Class labels; the number of a class is its place.
PARAPHRASE = ("0", "1")
ENTAILMENT = ("contradiction", "neutral", "entailment")
_NO_LABEL = "-"  # of MNLI: no label has a majority
# STS Benchmark: 0, nothing in common, to 5, the same meaning.
_HIGHEST = 5.0
_QQP_COLUMNS = ("id", "qid1", "qid2", "question1", "question2", "is_duplicate")
# The share of broken rows above which a file is not what it should be: GLUE's have a few.
_MOST_BROKEN = 0.01

Rows = Iterator[tuple[int, dict[str, str]]]


def read_pairs(task: str, folder: Path) -> TaskData[Pair]:
    """Return the data of a task on pairs of sentences.

    Raises:
        InputError: files are missing, or not as their format says.
    """
    return READERS[task]([folder / name for name in chosen_files(task, folder)])


def _label(path: Path, number: int, text: str, labels: Sequence[str]) -> float:
    try:
        return float(labels.index(text))
    except ValueError as error:
        raise InputError(
            f"{path}, line {number}: '{text[:100]}' is no label; labels are {', '.join(labels)}"
        ) from error


def _score(path: Path, number: int, text: str) -> float:
    try:
        score = finite(text)
    except ValueError as error:
        raise InputError(f"{path}, line {number}: {error}; scores are 0 to 5") from error
    return _in_range(f"{path}, line {number}", score)


def _in_range(where: str, score: float) -> float:
    if not 0.0 <= score <= _HIGHEST:
        raise InputError(f"{where}: the score {score:g} is not one of 0 to 5; correct it")
    return score


def _pairs(
    path: Path,
    rows: Rows,
    columns: tuple[str, str, str],
    gold: Callable[[Path, int, str], float],
) -> list[Pair]:
    first, second, label = columns
    pairs = [
        Pair(row[first], row[second], gold(path, number, row[label].strip()))
        for number, row in rows
    ]
    require_examples(path, pairs)
    return pairs


def _class_of(labels: Sequence[str]) -> Callable[[Path, int, str], float]:
    return lambda path, number, text: _label(path, number, text, labels)


def _mrpc(files: list[Path]) -> TaskData[Pair]:
    """Read MRPC: GLUE's parts, or Microsoft's training file and the ids of GLUE's development part.

    Without these ids, the original test file is what is reported.
    """
    columns = ("#1 String", "#2 String", "Quality")
    train, other = files

    def read(path: Path) -> list[tuple[tuple[str, str], Pair]]:
        rows = list(read_rows(path, (*columns, "#1 ID", "#2 ID")))
        pairs = _pairs(path, iter(rows), columns, _class_of(PARAPHRASE))
        numbers = [(row["#1 ID"], row["#2 ID"]) for _, row in rows]
        return list(zip(numbers, pairs, strict=True))

    known = read(train)
    if other.name != "dev_ids.tsv":
        part = "dev" if other.name == "dev.tsv" else "test"
        tested = {part: [pair for _, pair in read(other)]}
        return task_data(("train", [pair for _, pair in known]), tested, {}, {})
    chosen = _mrpc_ids(other)
    if unknown := chosen - {number for number, _ in known}:
        raise InputError(
            f"{other}: the pair {' '.join(min(unknown))} is not in {train}; the files do not "
            "belong together"
        )
    return task_data(
        ("train", [pair for number, pair in known if number not in chosen]),
        {"dev": [pair for number, pair in known if number in chosen]},
        {},
        {},
    )


def _mrpc_ids(path: Path) -> set[tuple[str, str]]:
    chosen = set()
    for number, row in fields(path, read_lines(path)):
        if len(row) != 2:
            raise InputError(f"{path}, line {number}: not two ids with a tab between them")
        chosen.add((row[0], row[1]))
    return chosen


def _stsb(files: list[Path]) -> TaskData[Pair]:
    """Read STS-B. Of its development part alone, folds are tested."""
    parts, left_out = {}, {}
    for path in files:
        part = "train" if "train" in path.stem else "dev"
        if path.suffix == ".tsv":
            rows = read_rows(path, ("sentence1", "sentence2", "score"))
            parts[part] = _pairs(path, rows, ("sentence1", "sentence2", "score"), _score)
            continue
        (data_set,) = read_data_sets([path])
        parts[part] = [
            Pair(*texts, _in_range(f"{path}, '{texts[0][:50]}'", score))
            for score, texts in zip(data_set.scores, data_set.pairs, strict=True)
        ]
        left_out[part] = {"without_score": data_set.unscored}
    learnt = "train" if "train" in parts else "dev"
    return task_data((learnt, parts[learnt]), {"dev": parts["dev"]}, {}, left_out)


def _qqp(files: list[Path]) -> TaskData[Pair]:
    parts, left_out = {}, {}
    for path in files:
        rows, broken = _whole_rows(path)
        columns = ("question1", "question2", "is_duplicate")
        parts[path.stem] = _pairs(path, iter(rows), columns, _class_of(PARAPHRASE))
        left_out[path.stem] = {"broken": broken}
    return task_data(("train", parts["train"]), {"dev": parts["dev"]}, {}, left_out)


def _whole_rows(path: Path) -> tuple[list[tuple[int, dict[str, str]]], int]:
    """Return the rows of a file of QQP that have all fields, and how many lines have others."""
    lines = fields(path, read_lines(path))
    _, header = next(lines, (0, [""]))
    if tuple(header) != _QQP_COLUMNS:
        raise InputError(
            f"{path}, line 1: the header is not {' '.join(_QQP_COLUMNS)} with tabs between; take "
            "GLUE's file"
        )
    rows, broken = [], 0
    for number, row in lines:
        if len(row) == len(_QQP_COLUMNS):
            rows.append((number, dict(zip(_QQP_COLUMNS, row, strict=True))))
        elif row != [""]:
            broken += 1
    if broken > _MOST_BROKEN * (len(rows) + broken):
        raise InputError(
            f"{path}: {broken:,} of {len(rows) + broken:,} lines do not have {len(_QQP_COLUMNS)} "
            "fields; GLUE's files have a few such lines. Get the file again"
        )
    return rows, broken


def _mnli(files: list[Path]) -> TaskData[Pair]:
    parts, left_out = {}, {}
    columns = ("sentence1", "sentence2", "gold_label")
    for path in files:
        part = path.stem.removeprefix("dev_")
        rows = list(read_rows(path, columns))
        agreed = [row for row in rows if row[1]["gold_label"].strip() != _NO_LABEL]
        parts[part] = _pairs(path, iter(agreed), columns, _class_of(ENTAILMENT))
        left_out[part] = {"without_label": len(rows) - len(agreed)}
    train = parts.pop("train")
    return task_data(("train", train), parts, {}, left_out)


def _sick_e(files: list[Path]) -> TaskData[Pair]:
    columns = ("sentence_A", "sentence_B", "entailment_judgment")
    labels = tuple(map(str.upper, ENTAILMENT))
    train, trial, test = (
        _pairs(path, read_rows(path, columns), columns, _class_of(labels)) for path in files
    )
    return task_data(("train", train), {"test": test}, {"trial": trial}, {})


READERS: dict[str, Callable[[list[Path]], TaskData[Pair]]] = {
    "QQP": _qqp,
    "MNLI": _mnli,
    "STS-B": _stsb,
    "MRPC": _mrpc,
    "SICK-E": _sick_e,
}
