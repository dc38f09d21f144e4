"""Templates: the top two levels of a sentence's tree, and how a rewriter is told of one.

A template is written `(S (NP) (VP) (.))`, as ParaNMT-50M describes it (section 6, Table 11). What a
model reads is the spelt template and then the sentence (`prefixed`).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_text
from workflow_scripts.core.files.manifest import verify_file
from workflow_scripts.core.files.tsv import one_line, read_rows, table_text
from workflow_scripts.stages.syntax.trees import ROOTS, parse, truncate

LEVELS = 2
# The table of a run's templates.
TABLE = "templates.tsv"
COLUMNS = ("template", "count", "share", "example")
# What stands before each label, and after the last one, where a template is spelt. No sentence that
# a model reads has two brackets in a row (`prefixed`), so no sentence can spell a template.
_OPEN, _END = "((", "))"
# The one label of the Penn Treebank with a character that vocabularies of pretrained models lack.
_SPELT = {"``": "OPEN"}
_LABEL = r"[^()\s]+"
_TEMPLATE = re.compile(rf"\(\s*({_LABEL})((?:\s*\(\s*{_LABEL}\s*\))*)\s*\)")
_ROOT = re.compile(r"\(\s*(\w*)\s*(\(.*\))\s*\)", re.DOTALL)
_EXAMPLE = "the top two levels of a tree, such as (S (NP) (VP) (.))"


@dataclass(frozen=True, slots=True)
class Template:
    """A template of the sentences that a rewriter learnt to write.

    Attributes:
        template: in brackets.
        count: training pairs whose target has it.
        example: one of these targets.
    """

    template: str
    count: int
    example: str


def template_of(bracketed: str) -> str:
    """Return the template of a tree in brackets: its top two levels below the root, no words.

    Raises:
        InputError: it is no tree.
    """
    return truncate(parse(bracketed), LEVELS)


def labels_of(template: str) -> list[str]:
    """Return the labels of a template: the sentence's own, then those of its parts in order."""
    return re.findall(_LABEL, template)


def spelt(template: str) -> str:
    """Return a template as a model reads it: `((S((NP((VP((.))`, one symbol for each label.

    The symbols are `symbols`; a model with a vocabulary of its own has each as one piece.
    """
    return "".join(map(_symbol, labels_of(template))) + _END


def symbols(labels: Iterable[str]) -> list[str]:
    """Return what templates of these labels are spelt of, in the order of the alphabet."""
    return [*sorted({*map(_symbol, labels)}), _END]


def _symbol(label: str) -> str:
    return _OPEN + _SPELT.get(label, label)


def prefixed(template: str | None, sentence: str) -> str:
    """Return what a rewriter with templates reads: the spelt template, a blank, the sentence.

    Args:
        template: that the paraphrase is to have, in brackets; None leaves the syntax free, which
            is spelt by the end of a template alone.
        sentence: equal brackets in it that follow one another get a blank between them. So
            nothing in it is read as a template.
    """
    start = _END if template is None else spelt(template)
    return f"{start} {_apart(sentence)}"


def _apart(sentence: str) -> str:
    """Return a sentence with a blank between equal brackets that follow one another.

    SentencePiece models may fold characters (NFKC) and drop invisible ones before they look for
    pieces; so what becomes a bracket counts as one, and what may vanish does not stand between.
    """
    if sentence.isascii() and _OPEN not in sentence and _END not in sentence:
        return sentence
    apart, last = "", ""
    for character in sentence:
        folded = unicodedata.normalize("NFKC", character)
        apart += " " + character if last and folded.startswith(last) else character
        if not unicodedata.category(character).startswith("C"):
            last = folded[-1] if folded[-1] in "()" else ""
    return apart


def checked(text: str, labels: Iterable[str]) -> str:
    """Return a template that a user wrote, in the form in which templates are compared.

    Blanks between brackets don't matter, and a root above the sentence is taken off.

    Args:
        text: such as `(S(NP)(VP)(.))`.
        labels: those that the rewriter knows.

    Raises:
        InputError: it is no template, or has a label that the rewriter never saw.
    """
    bare = text.strip()
    while (root := _ROOT.fullmatch(bare)) and root[1] in ROOTS and _one_bracket(root[2]):
        bare = root[2]
    match = _TEMPLATE.fullmatch(bare)
    if match is None:
        raise InputError(f"{text[:200]!r} is no template: write {_EXAMPLE}, without words")
    first, *parts = labels_of(match[0])
    known = sorted(set(labels))
    for label in (first, *parts):
        if label not in known:
            raise InputError(
                f"{text[:200]!r}: the rewriter never saw the label {label!r}; its labels are "
                f"{' '.join(known)}"
            )
    return f"({first}{''.join(f' ({part})' for part in parts)})"


def _one_bracket(text: str) -> bool:
    """Tell whether the first bracket of a text closes at its end."""
    depth = 0
    for place, character in enumerate(text, start=1):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return place == len(text)
    return False


class Count:
    """The templates of sentences, each with its number and an example.

    The result does not depend on the order of the sentences.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._examples: dict[str, tuple[float, str]] = {}

    def add(self, template: str, sentence: str, drawn: float) -> None:
        """Count a sentence; that with the lowest number `drawn` is the example of its template."""
        self._counts[template] += 1
        best = self._examples.get(template)
        self._examples[template] = min(best or (drawn, sentence), (drawn, sentence))

    def __len__(self) -> int:
        return self._counts.total()

    def templates(self) -> list[Template]:
        """Return the templates, most frequent first, those of one count by the alphabet."""
        order = sorted(self._counts, key=lambda text: (-self._counts[text], text))
        return [Template(text, self._counts[text], self._examples[text][1]) for text in order]


def write_table(path: Path, templates: list[Template]) -> None:
    """Write templates with their shares of all sentences; see `COLUMNS`."""
    total = sum(entry.count for entry in templates)
    rows = [
        (entry.template, str(entry.count), f"{entry.count / total:.6f}", entry.example)
        for entry in templates
    ]
    write_text(path, table_text(COLUMNS, one_line(rows)))


def known(folder: Path) -> list[Template]:
    """Return the templates of a rewriter's training, most frequent first.

    Raises:
        InputError: the table is missing, as in a rewriter without templates, or damaged.
    """
    path = folder / TABLE
    if not path.exists():
        raise InputError(
            f"{folder} has no {TABLE}: this rewriter was trained without templates; take one whose "
            "block in rewriters has the key templates"
        )
    verify_file(path, "model")
    return read_table(path)


def read_table(path: Path) -> list[Template]:
    """Return the templates of a table, most frequent first; the caller has verified it.

    Raises:
        InputError: it is no such table.
    """
    templates = []
    for number, row in read_rows(path, COLUMNS):
        try:
            templates.append(Template(row["template"], int(row["count"]), row["example"]))
        except ValueError as error:
            raise InputError(f"{path}, line {number}: count {row['count']!r}: {error}") from error
    return templates


def known_labels(templates: Iterable[Template]) -> list[str]:
    """Return the labels of templates, in the order of the alphabet."""
    return sorted({label for entry in templates for label in labels_of(entry.template)})
