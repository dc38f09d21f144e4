"""Paraphrases of single words: a lexical file of PPDB 2.0, or a plain list.

PPDB 2.0 (Pavlick et al., ACL 2015) has one rule on each line. Its fields, with ` ||| ` between,
are: syntactic category, phrase, paraphrase, features (`name=value`, with blanks between; a higher
PPDB2.0Score is better), alignment, entailment relation. A line of a plain list has a word and then
its paraphrases, best first, with blanks between.
"""

import heapq
import unicodedata
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.packed_lines import read_lines
from workflow_scripts.core.progress import progress
from workflow_scripts.core.statistics.numbers import finite
from workflow_scripts.stages.generate.constraint_words import is_plain
from workflow_scripts.stages.generate.parts_of_speech import coarse

# How many paraphrases of each word, relation and part of speech are kept where the best one is
# wanted: one of them is new to any reference.
MOST = 8
SCORE = "PPDB2.0Score="
# The category of a phrase that has none.
UNTAGGED = "[X]"
_MOST_BYTES = 1 << 16


class Rule(NamedTuple):
    """A word's paraphrase.

    `score`: higher is better; `relation` and `part`, the coarse part of speech of both words: None
    in a plain list, and `part` also where the category is [X].
    """

    word: str
    paraphrase: str
    score: float
    relation: str | None
    part: str | None = None


class Paraphrases:
    """The paraphrases of each word, by relation and part of speech.

    Args:
        most: how many of each word, relation and part of speech are kept, the best ones; memory
            holds up to twice as many while rules are added. None: all.
    """

    def __init__(self, most: int | None = MOST) -> None:
        self._most = most
        self._scores: dict[tuple[str, str | None], dict[str | None, dict[str, float]]] = {}

    def add(self, rule: Rule) -> None:
        """Add a rule; if it comes several times, its best score counts."""
        parts = self._scores.setdefault((rule.word, rule.relation), {})
        scores = parts.setdefault(rule.part, {})
        scores[rule.paraphrase] = max(rule.score, scores.get(rule.paraphrase, rule.score))
        if self._most is not None and len(scores) >= 2 * self._most:
            # The dropped ones had `most` better ones. One that comes again with a better score
            # counts.
            parts[rule.part] = dict(heapq.nsmallest(self._most, scores.items(), key=_rank))

    def of(
        self, word: str, relations: list[str] | None, parts: frozenset[str] | None = None
    ) -> list[str]:
        """Return a word's paraphrases in any of the relations, best first.

        Paraphrases with equal scores are in alphabetical order.

        Args:
            word: in lower case.
            relations: None: of a plain list, which has none.
            parts: the coarse parts of speech that count, None: all; rules without one all count,
                as those of a plain list.
        """
        merged: dict[str, float] = {}
        among: Sequence[str | None] = relations or [None]
        for relation in among:
            for part, scores in self._scores.get((word, relation), {}).items():
                if parts is None or part is None or part in parts:
                    for paraphrase, score in scores.items():
                        merged[paraphrase] = max(score, merged.get(paraphrase, score))
        best = sorted(merged.items(), key=_rank)
        return [paraphrase for paraphrase, _ in best[: self._most]]


def _rank(item: tuple[str, float]) -> tuple[float, str]:
    paraphrase, score = item
    return -score, paraphrase


def read_paraphrases(
    kind: str, path: Path, words: Container[str], most: int | None = MOST
) -> Paraphrases:
    """Return the paraphrases of some words; both have lower-case letters only.

    Args:
        kind: "ppdb" or "list".
        path: the file, compressed or not (.gz, .bz2, .zst, .xz).
        words: the words whose paraphrases are returned.
        most: as in `Paraphrases`.

    Raises:
        InputError: the file can't be read, or a line is not in the format.
    """
    paraphrases = Paraphrases(most)
    read = {"ppdb": ppdb_rules, "list": list_rules}[kind]
    for rule in progress(read(path), desc=f"rules of {path.name}"):
        if rule.word in words and is_plain(rule.paraphrase) and rule.paraphrase != rule.word:
            paraphrases.add(rule)
    return paraphrases


def ppdb_rules(path: Path) -> Iterator[Rule]:
    """Yield the rules of a PPDB 2.0 file."""
    for number, line in _text_lines(path):
        fields = line.split(" ||| ")
        score = (
            next((f for f in fields[3].split() if f.startswith(SCORE)), "") if fields[3:] else ""
        )
        try:
            category, phrase, paraphrase, _, _, relation = fields
            value = finite(score.removeprefix(SCORE))
            part = None if category.strip() == UNTAGGED else coarse(category.strip())
            yield Rule(phrase, paraphrase, value, relation.strip(), part)
        except ValueError as error:
            raise InputError(
                f"{path}, line {number}: no rule of PPDB 2.0 (six fields between ' ||| ', a "
                f"finite {SCORE}...); a plain list goes under the key 'list'"
            ) from error


def list_rules(path: Path) -> Iterator[Rule]:
    """Yield the rules of a plain list; a line's first paraphrase scores highest."""
    for number, line in _text_lines(path):
        if "|||" in line:
            raise InputError(
                f"{path}, line {number}: '|||' is of PPDB's format; give the file under the key "
                "'ppdb'"
            )
        word, *paraphrases = line.split() or [""]
        for rank, paraphrase in enumerate(paraphrases):
            yield Rule(word, paraphrase, -float(rank), None)


def _text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line, in NFC as the references are."""
    for number, line in enumerate(read_lines(path, _MOST_BYTES), start=1):
        if len(line) > _MOST_BYTES:
            raise InputError(f"{path}, line {number}: more than {_MOST_BYTES} bytes; remove it")
        try:
            yield number, unicodedata.normalize("NFC", line.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise InputError(f"{path}, line {number}: not UTF-8; convert the file") from error
