"""What a subcommand on text writes: plain text, TSV or JSON lines."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from paraloom.rows import Row
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.rewrite.request_lines import BETWEEN

WRITTEN = ("text", "tsv", "jsonl")
# What ends a line or a cell.
_BLANKS = str.maketrans(dict.fromkeys("\t\n\v\f\r\x85\u2028\u2029", " "))

Answer = Mapping[str, Any]


class LineWriter:
    """Writes the answers to rows on the standard output as they come.

    In plain text there is a line for each answer, which is empty where a row has none; where a row
    may have several, an empty line stands behind its last one. A TSV has a line for each answer,
    with its rank, JSON one line for each row.

    Args:
        form: one of `WRITTEN`.
        kind: what an answer is, such as `paraphrase`; its text is called so in a TSV.
        columns: the keys of an answer; the first one is that of plain text.
        several: whether a row may have more than one answer.
    """

    def __init__(self, form: str, kind: str, columns: Sequence[str], several: bool):
        self._form, self._kind, self._columns, self._several = form, kind, columns, several
        self._header: list[str] | None = None

    def tells(self, answer: Answer) -> bool:
        """Return whether an answer tells something."""
        return answer[self._columns[0]] is not None

    def write(self, row: Row, answers: Sequence[Answer], why: str | None) -> None:
        """Write the answers to a row, best first, and why they are fewer than asked for.

        Raises:
            InputError: a TSV is written, and the row has a column that the first row had not.
        """
        fields = {**row.others, **row.known}
        if self._form == "jsonl":
            more = {f"{self._kind}s": answers} if self._columns[0] == "text" else answers[0]
            lines = [json.dumps({**fields, **more, "why": why}, ensure_ascii=False)]
        elif self._form == "tsv":
            lines = list(self._table(row, fields, answers or [{}], why))
        else:
            lines = [_cell(answer[self._columns[0]]) for answer in answers]
            lines += [""] if self._several or not lines else []
        print(*lines, sep="\n", flush=True)

    def _table(
        self, row: Row, fields: dict[str, Any], answers: Sequence[Answer], why: str | None
    ) -> list[str]:
        ranked = self._columns[0] == "text"
        names = [self._kind, *self._columns[1:]] if ranked else list(self._columns)
        names = ["rank", *names] if ranked else names
        if self._header is None:
            self._header = [name for name in fields if name not in names] + [*names, "why"]
            lines = ["\t".join(map(_cell, self._header))]
        else:
            lines = []
        for name in fields:
            if name not in self._header:
                raise InputError(
                    f"{row.place}: the column {name} is not in the first row, so it has no place "
                    "in a TSV; write JSON lines (--to jsonl)"
                )
        for rank, answer in enumerate(answers, start=1):
            given = dict(answer)
            if ranked and given:
                given = {"rank": rank, self._kind: given.pop("text"), **given}
            cells = {**dict.fromkeys(names), **fields, **given, "why": why}
            lines.append("\t".join(_cell(cells.get(name)) for name in self._header))
        return lines


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6f}"
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = BETWEEN.join(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text.translate(_BLANKS)
