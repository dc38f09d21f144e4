"""What a lexicon is measured against, in the user's files.

word similarity     word, word, score on each line; nine English sets are the usual ones
paraphrases         PPDB 2.0 with ` ||| `, or a plain list: a word, then its paraphrases
antonyms            two words on each line
"""

from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.lines import read_lines
from workflow_scripts.core.files.packed_lines import read_lines as packed_lines
from workflow_scripts.core.statistics.numbers import finite
from workflow_scripts.stages.generate.ppdb import list_rules, ppdb_rules

Pair = tuple[str, str]
# What is no part of a file's name: how it is compressed, and that it is text.
_ENDINGS = (".gz", ".bz2", ".xz", ".zst", ".txt", ".tsv", ".vec")
_SEPARATOR = b" ||| "
_MOST_BYTES = 1 << 16


class WordPairs(NamedTuple):
    """A set of word pairs that people gave scores; a higher score means more similar.

    Attributes:
        name: of the file, without its ending.
        pairs: in lower case.
        scores: of the pairs.
        same: how many pairs of a word with itself were left out.
    """

    name: str
    pairs: tuple[Pair, ...]
    scores: tuple[float, ...]
    same: int


def read_word_pairs(files: Iterable[Path]) -> list[WordPairs]:
    """Read sets of word similarity, in the order of their names.

    Each line has a word, another one and a number, with tabs between or, where there is no tab,
    with blanks. A first line whose third field is no number names the columns. Pairs that come
    twice count twice, as in the published sets; a word with itself is left out.

    Args:
        files: without those called README, SOURCE or LICENSE, with or without an ending.

    Raises:
        InputError: a file can't be read, a line is not of this form, a file has fewer than two
            pairs, or two files have one name.
    """
    sets: dict[str, WordPairs] = {}
    places: dict[str, Path] = {}
    for path in files:
        if path.stem.upper() in ("README", "SOURCE", "LICENSE"):
            continue
        data_set = _word_pairs(path)
        if data_set.name in sets:
            raise InputError(
                f"{places[data_set.name]} and {path} are both the set {data_set.name}; rename one"
            )
        sets[data_set.name], places[data_set.name] = data_set, path
    return [sets[name] for name in sorted(sets)]


def _word_pairs(path: Path) -> WordPairs:
    rows: list[tuple[Pair, float]] = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        fields = [field.strip() for field in (line.split("\t") if "\t" in line else line.split())]
        if number == 1 and len(fields) == 3 and _names_column(fields[2]):
            continue
        try:
            first, second, score = fields
            value = finite(score)
            if not first or not second:
                raise ValueError("a word is empty")
        except ValueError as error:
            raise InputError(
                f"{path}, line {number}: not of the form word, word, score ({error}); write these "
                "three with tabs between"
            ) from error
        rows.append(((first.lower(), second.lower()), value))
    distinct = [row for row in rows if row[0][0] != row[0][1]]
    if len(distinct) < 2:
        raise InputError(f"{path}: {len(distinct)} pairs of two words; take the file away")
    pairs, scores = zip(*distinct, strict=True)
    return WordPairs(path.stem, pairs, scores, len(rows) - len(distinct))


def _names_column(text: str) -> bool:
    """Tell whether a field is a column's name: `NaN` and similar words are spoilt numbers."""
    return text[:1].isalpha() and text.lower() not in ("nan", "inf", "infinity", "na", "none")


def name_of(path: Path) -> str:
    """Return what a file is called: its name without endings that say how it is written."""
    name = path.name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name or path.name


class Rule(NamedTuple):
    """A phrase and its paraphrase, in lower case; a list has no score."""

    phrase: str
    paraphrase: str
    score: float | None


def is_scored(path: Path) -> bool:
    """Tell whether a file of paraphrases is in PPDB's form, by its first line.

    Raises:
        InputError: it can't be read, or is empty.
    """
    first = next(packed_lines(path, _MOST_BYTES), None)
    if first is None:
        raise InputError(f"{path}: there is nothing in it; name another file")
    return _SEPARATOR in first


def read_rules(path: Path) -> Iterator[Rule]:
    """Yield the paraphrases of a file in PPDB's form or of a plain list, compressed or not.

    Raises:
        InputError: the file can't be read, or a line is not of the form of the first one.
    """
    scored = is_scored(path)
    for rule in (ppdb_rules if scored else list_rules)(path):
        phrase, paraphrase = rule.word.lower().strip(), rule.paraphrase.lower().strip()
        if phrase and paraphrase and phrase != paraphrase:
            yield Rule(phrase, paraphrase, rule.score if scored else None)


class Listed:
    """What a file of paraphrases says of some phrases.

    Attributes:
        name: of the file, without its endings.
        scored: whether it is in PPDB's form.
    """

    def __init__(self, path: Path, phrases: Container[str]) -> None:
        """Read the rules whose phrase and paraphrase are both among `phrases`.

        Raises:
            InputError: see `read_rules`.
        """
        self.name = name_of(path)
        self.scored = is_scored(path)
        self._known: set[str] = set()
        self._scores: dict[Pair, float] = {}
        for phrase, paraphrase, score in read_rules(path):
            if phrase in phrases:
                self._known.add(phrase)
                if paraphrase in phrases:
                    pair, value = (phrase, paraphrase), 0.0 if score is None else score
                    self._scores[pair] = max(value, self._scores.get(pair, value))

    def knows(self, phrase: str) -> bool:
        """Tell whether the file has any paraphrase of a phrase."""
        return phrase in self._known

    def has(self, phrase: str, paraphrase: str) -> bool:
        """Tell whether the file has a paraphrase, in either direction."""
        return (phrase, paraphrase) in self._scores or (paraphrase, phrase) in self._scores

    @property
    def scores(self) -> dict[Pair, float]:
        """The score of each ordered pair, its best where it comes several times; 0 in a list."""
        return self._scores


def read_antonyms(paths: Iterable[Path]) -> set[frozenset[str]]:
    """Return the pairs of antonyms in files of two words a line, in lower case.

    Raises:
        InputError: a file can't be read or is empty, or a line has not two words.
    """
    pairs = set()
    for path in paths:
        of_file = set()
        for number, line in enumerate(read_lines(path), start=1):
            words = line.lower().split()
            if words and len(words) != 2:
                raise InputError(
                    f"{path}, line {number}: {len(words)} words; a line has two antonyms, with a "
                    "blank between"
                )
            if words:
                of_file.add(frozenset(words))
        if not of_file:
            raise InputError(f"{path}: no antonyms in it; name another file")
        pairs |= of_file
    return pairs
