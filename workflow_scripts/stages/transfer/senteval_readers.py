"""Read the transfer tasks in SentEval's layout, in the order in which SentEval has them.

The order counts: folds and batches are drawn by the place of a row. SentEval sorts the rows of a
part by the number of tokens, then by class (or grade); rows that are alike in this keep the order
of the files.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.packed_lines import read_lines
from workflow_scripts.core.files.tsv import fields
from workflow_scripts.core.statistics.numbers import finite
from workflow_scripts.core.text.normalisation import letters_and_digits
from workflow_scripts.stages.transfer.tasks import (
    LABEL_FIRST,
    LABEL_LAST,
    LINES,
    MRPC,
    QUESTIONS,
    RELATEDNESS,
    TASKS,
    Task,
)

_MOST_BYTES = 1 << 20
# SentEval's numbers of the classes.
_QUESTION_CLASSES = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
_JUDGMENTS = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
_SICK_COLUMNS = ("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")


class Row(NamedTuple):
    """A sentence, or two, with a class or a grade. Blanks stand between the tokens."""

    label: float
    first: str
    second: str | None = None


class TaskData(NamedTuple):
    """A task's rows by part, in SentEval's order.

    Attributes:
        task: its name.
        parts: the rows.
        latin1: names of the files that are not UTF-8, and were read as SentEval reads them.
    """

    task: str
    parts: dict[str, list[Row]]
    latin1: list[str]

    @property
    def tested(self) -> list[Row]:
        """The rows whose classes or grades are predicted."""
        return self.parts[TASKS[self.task].test]


def read_task(task: Task, files: dict[str, list[Path]]) -> TaskData:
    """Return the rows of a task.

    Args:
        task: which one.
        files: of each part, as `tasks.found` gives them.

    Raises:
        InputError: a file is not what it should be, or a part lacks a class; the message names
            the file and the line.
    """
    latin1: list[str] = []
    parts = {}
    for part, paths in files.items():
        rows = [row for at, path in enumerate(paths) for row in _read(task, at, path, latin1)]
        _check_classes(task, paths, rows)
        parts[part] = sorted(rows, key=_order)
    return TaskData(task.name, parts, latin1)


def _order(row: Row) -> tuple[int, int, float]:
    second = row.second or ""
    return len(row.first.split()), len(second.split()), row.label


def _check_classes(task: Task, paths: Sequence[Path], rows: list[Row]) -> None:
    where = ", ".join(map(str, paths))
    if not rows:
        raise InputError(f"{where}: no row of {task.name} in it; fetch it again")
    known = {row.label for row in rows}
    if len(known) < 2:
        what = "grade" if task.kind == RELATEDNESS else "class"
        raise InputError(
            f"{where}: all rows of {task.name} are of the {what} {known.pop():g}; nothing can be "
            "told apart, fetch the data again"
        )


def _read(task: Task, place: int, path: Path, latin1: list[str]) -> Iterator[Row]:
    """Yield the rows of a file; `place` is its place among the files of the part."""
    # SentEval reads these as latin-1, and the original file of TREC has a byte of that.
    may_be_latin1 = task.form in (LINES, QUESTIONS)
    lines = _lines(path, latin1 if may_be_latin1 else None)
    if task.form == LINES:
        own = float(len(task.files["all"]) - 1 - place)
        # An empty line is a sentence without words, as SentEval has it.
        yield from (Row(own, _tokens(line)) for line in lines)
    elif task.form == LABEL_LAST:
        for number, row in _columns(path, lines, 2, exactly=True):
            yield Row(_class(path, number, row[1], task.classes), _tokens(row[0]))
    elif task.form == LABEL_FIRST:
        for number, line in enumerate(lines, 1):
            label, _, text = line.strip().partition(" ")
            own = _class(path, number, label, task.classes)
            yield Row(own, _required(path, number, text))
    elif task.form == QUESTIONS:
        for number, line in enumerate(lines, 1):
            yield _question(path, number, line)
    elif task.form == MRPC:
        yield from _mrpc(path, lines)
    else:
        yield from _sick(path, lines, grades=task.classes == 5)


def _tokens(text: str) -> str:
    return " ".join(text.split())


def _required(path: Path, number: int, text: str) -> str:
    """Return the tokens of what stands behind a class; there must be some, as in SentEval."""
    if not text.strip():
        raise InputError(
            f"{path}, line {number}: no sentence after the class; correct or remove the line"
        )
    return _tokens(text)


def _lines(path: Path, latin1: list[str] | None) -> list[str]:
    """Return the lines of a file.

    Args:
        path: of the file.
        latin1: gets its name if it is latin-1; None: it must be UTF-8.
    """
    lines: list[bytes] = []
    for number, line in enumerate(read_lines(path, _MOST_BYTES), 1):
        if len(line) > _MOST_BYTES:
            raise InputError(f"{path}, line {number}: more than {_MOST_BYTES} bytes; remove it")
        if b"\0" in line:  # in UTF-16 every other byte is, and all of it can be read as latin-1
            raise InputError(
                f"{path}, line {number}: NUL, which no text has; convert the file to UTF-8"
            )
        lines.append(line)
    try:
        return [_decoded(path, number, line) for number, line in enumerate(lines, 1)]
    except InputError:
        if latin1 is None:
            raise
    latin1.append(path.name)
    return [line.decode("latin-1") for line in lines]


def _decoded(path: Path, number: int, line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}, line {number}: can't be read as UTF-8 ({error}); convert the file"
        ) from error


def _columns(
    path: Path, lines: Sequence[str], count: int, exactly: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the columns of each line; tabs separate columns."""
    for number, row in fields(path, lines):
        if len(row) < count or (exactly and len(row) > count):
            least = "" if exactly else "at least "
            raise InputError(
                f"{path}, line {number}: {len(row)} columns where {least}{count} belong, with tabs "
                "between them; correct the line"
            )
        yield number, row


def _class(path: Path, number: int, text: str, classes: int) -> float:
    label = text.strip()
    if label not in map(str, range(classes)):
        raise InputError(
            f"{path}, line {number}: '{label[:100]}' is no class; it must be 0 to {classes - 1}"
        )
    return float(label)


def _question(path: Path, number: int, line: str) -> Row:
    label, colon, rest = line.strip().partition(":")
    if not colon or label not in _QUESTION_CLASSES:
        raise InputError(
            f"{path}, line {number}: it does not begin with a class and a colon; the classes are "
            f"{', '.join(_QUESTION_CLASSES)}"
        )
    # The subclass is not asked for.
    question = _required(path, number, rest.partition(" ")[2])
    return Row(float(_QUESTION_CLASSES.index(label)), question)


def _mrpc(path: Path, lines: Sequence[str]) -> Iterator[Row]:
    """Yield the rows after the first line, which names the columns."""
    if lines and lines[0].split("\t")[0].strip() in ("0", "1"):
        raise InputError(
            f"{path}: its first line is a pair; the first line must name the columns, as in "
            "Microsoft's file"
        )
    for number, row in _columns(path, lines, 5, exactly=True):
        if number > 1:
            yield Row(_class(path, number, row[0], 2), _tokens(row[3]), _tokens(row[4]))


def _sick(path: Path, lines: Sequence[str], grades: bool) -> Iterator[Row]:
    header = tuple(name.strip() for name in lines[0].split("\t")) if lines else ()
    if header[: len(_SICK_COLUMNS)] != _SICK_COLUMNS:
        raise InputError(
            f"{path}: its first line does not name the columns {', '.join(_SICK_COLUMNS)}, in this "
            "order; fetch the data that SemEval 2014 gave out"
        )
    for number, row in _columns(path, lines, len(_SICK_COLUMNS)):
        if number == 1:
            continue
        if grades:
            label = _grade(path, number, row[3])
        elif row[4].strip() in _JUDGMENTS:
            label = float(_JUDGMENTS.index(row[4].strip()))
        else:
            raise InputError(
                f"{path}, line {number}: '{row[4].strip()[:100]}' is no judgment; it must be one "
                f"of {', '.join(_JUDGMENTS)}"
            )
        yield Row(label, _tokens(row[1]), _tokens(row[2]))


def _grade(path: Path, number: int, text: str) -> float:
    try:
        grade = finite(text)
    except ValueError as error:
        raise InputError(
            f"{path}, line {number}: '{text[:100]}' is no grade; correct it"
        ) from error
    if not 1 <= grade <= 5:
        raise InputError(f"{path}, line {number}: grade {text.strip()}; it must be 1 to 5")
    return grade


def repetitions(data: TaskData) -> dict[str, int]:
    """Return how often a task's rows repeat each other; SentEval does not look, and so it stays.

    Returns:
        `repeated`: rows of the tested part whose sentences another row of the task has as well.
        `contradictory`: those among them of which another one has another class or grade.
    """
    parts = {part: pd.DataFrame(rows, columns=[*Row._fields]) for part, rows in data.parts.items()}
    table = pd.concat(parts, names=["part"]).fillna({"second": ""})
    sentences = [table[name].map(letters_and_digits) for name in ("first", "second")]
    labels = table.groupby(sentences)["label"]
    alike = pd.DataFrame(
        {"repeated": labels.transform("size"), "contradictory": labels.transform("nunique")}
    )
    tested = alike.loc[TASKS[data.task].test] > 1
    return {name: int(count) for name, count in tested.sum().items()}
