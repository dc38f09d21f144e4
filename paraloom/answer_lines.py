"""What a subcommand on text writes: plain text, TSV or JSON lines."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from paraloom.rows import Row, Table
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

    Attributes:
        names: of the columns that the answer adds in this form.
    """

    def __init__(self, form: str, kind: str, columns: Sequence[str], several: bool):
        self._form, self._kind, self._columns, self._several = form, kind, columns, several
        self._ranked = columns[0] == "text"
        self._header: list[str] = []
        self.names: list[str] = []
        if form == "tsv":
            self.names = ["rank", kind, *columns[1:]] if self._ranked else [*columns]
        elif form == "jsonl":
            self.names = [f"{kind}s"] if self._ranked else [*columns]
        if self.names:
            self.names.append("why")

    def begin(self, tables: Sequence[Table], several: bool) -> None:
        """Write what stands before the answers to rows of tables.

        Args:
            tables: whose columns are repeated; a row that has not one of them has an empty cell.
            several: whether they may ask for more than one answer.
        """
        self._several |= several
        if self._form == "tsv":
            names = dict.fromkeys(name for table in tables for name in table.header)
            self._header = [name for name in names if name not in self.names] + self.names
            self._print(["\t".join(map(_cell, self._header))])

    def tells(self, answer: Answer) -> bool:
        """Return whether an answer tells something."""
        return answer[self._columns[0]] is not None

    def write(self, row: Row, answers: Sequence[Answer], why: str | None) -> None:
        """Write the answers to a row, best first, and why they are fewer than asked for.

        Raises:
            InputError: the form can't hold it, as nothing of the kind stood in the first row.
        """
        fields = {**row.others, **row.known}
        if self._form == "jsonl":
            more = {f"{self._kind}s": answers} if self._ranked else answers[0]
            lines = [json.dumps({**fields, **more, "why": why}, ensure_ascii=False)]
        elif self._form == "tsv":
            lines = self._table(row, fields, answers or [{}], why)
        else:
            if len(answers) > 1 and not self._several:
                raise InputError(
                    f"{row.place}: n is not in the first row, so nothing tells in plain text whose "
                    "lines are whose; write JSON lines (--to jsonl)"
                )
            lines = [_cell(_rounded(answer[self._columns[0]])) for answer in answers]
            lines += [""] if self._several or not lines else []
        self._print(lines)

    def _table(
        self, row: Row, fields: dict[str, Any], answers: Sequence[Answer], why: str | None
    ) -> list[str]:
        for name in fields:
            if name not in self._header:
                raise InputError(
                    f"{row.place}: the column {name} is not in the first row, so it has no place "
                    "in a TSV; write JSON lines (--to jsonl)"
                )
        lines = []
        for rank, answer in enumerate(answers, start=1):
            given = {key: _rounded(value) for key, value in answer.items()}
            if self._ranked and given:
                given = {"rank": rank, self._kind: given.pop("text"), **given}
            cells = {**fields, **given, "why": why}
            lines.append("\t".join(_cell(cells.get(name)) for name in self._header))
        return lines

    def _print(self, lines: Sequence[str]) -> None:
        # Half of a surrogate pair, which UTF-8 has not, is written as JSON escapes it.
        text = "\n".join(lines).encode("utf-8", "backslashreplace").decode("utf-8")
        print(text, flush=True)


def _rounded(value: Any) -> Any:
    return f"{value:.6f}" if isinstance(value, float) else value


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = BETWEEN.join(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.translate(_BLANKS)
