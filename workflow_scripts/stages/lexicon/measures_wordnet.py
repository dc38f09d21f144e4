"""WordNet 3.0 in its database files, as `/usr/share/wordnet` of Debian's wordnet-base has them.

The format is that of the manual page wndb(5WN): each line of `data.POS` is a synset. NLTK's reader
is not used: it asks for the file `lexnames`, which Debian leaves out, and reads no folder outside
NLTK's own. Inflected words are looked up as WordNet's own morphy does: by the lists of exceptions,
then by rules of detachment (morphy(7WN)).
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.lines import read_lines

# Part of speech by the file's suffix. Satellite adjectives (s) stand among the adjectives.
_FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
# Endings and what replaces them.
_DETACHMENT = {
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "v": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}
# Pointers from the more special to the more general.
_HYPERNYMS = frozenset({"@", "@i"})
_ANTONYM = "!"
_MARKERS = ("(a)", "(p)", "(ip)")
# Words whose synsets are remembered.
_REMEMBERED = 1 << 18

# A part of speech and the place in its file.
Synset = tuple[str, int]

FORM, SYNONYM, HYPERNYM = "form", "synonym", "hypernym"


class WordNet:
    """Lemmas, synsets, hypernyms and antonyms.

    Args:
        folder: with `data.noun`, `noun.exc` and its other files.

    Raises:
        InputError: a file is missing, or is not in the format.
    """

    def __init__(self, folder: Path) -> None:
        self._synsets: dict[str, dict[str, list[Synset]]] = {pos: {} for pos in _FILES}
        self._hypernyms: dict[Synset, frozenset[Synset]] = {}
        self._exceptions: dict[str, dict[str, list[str]]] = {}
        words: dict[Synset, tuple[str, ...]] = {}
        opposites: list[tuple[Synset, int, Synset, int]] = []
        for pos, name in _FILES.items():
            self._read(folder / f"data.{name}", pos, words, opposites)
            self._exceptions[pos] = _exceptions(folder / f"{name}.exc")
        self._antonyms: set[tuple[str, str]] = set()
        for synset, place, other, other_place in opposites:
            try:
                pair = words[synset][place - 1], words[other][other_place - 1]
            except LookupError as error:
                raise InputError(
                    f"{folder}: an antonym of '{words[synset][0]}' is not there; the files are of "
                    "different versions, fetch them again"
                ) from error
            self._antonyms.add(pair)
        self.lemmas = lru_cache(_REMEMBERED)(self._lemmas)
        self.synsets = lru_cache(_REMEMBERED)(self._synsets_of)

    def _read(
        self,
        path: Path,
        pos: str,
        words: dict[Synset, tuple[str, ...]],
        opposites: list[tuple[Synset, int, Synset, int]],
    ) -> None:
        synsets: dict[str, list[Synset]] = defaultdict(list)
        for number, line in enumerate(_lines(path), start=1):
            if line.startswith("  ") or not line:  # the licence
                continue
            try:
                synset, names, general, opposed = _synset(line, pos)
            except (ValueError, LookupError) as error:
                raise InputError(
                    f"{path}, line {number}: no synset in the format of wndb(5WN); fetch the file "
                    "again"
                ) from error
            words[synset] = names
            opposites += [(synset, *relation) for relation in opposed]
            if general:
                self._hypernyms[synset] = general
            for name in names:
                synsets[name].append(synset)
        if not synsets:
            raise InputError(f"{path}: no synset in it; fetch the file again")
        self._synsets[pos] = dict(synsets)

    def _lemmas(self, phrase: str) -> frozenset[tuple[str, str]]:
        return frozenset(
            (pos, lemma)
            for pos, known in self._synsets.items()
            for lemma in self._forms(phrase, pos)
            if lemma in known
        )

    def _forms(self, phrase: str, pos: str) -> Iterator[str]:
        """Yield what a phrase may be a form of; of several words the one that is inflected is."""
        yield phrase
        first, blank, rest = phrase.partition(" ")
        if not blank:
            yield from self._word_forms(phrase, pos)
        elif pos == "v":
            yield from (f"{form} {rest}" for form in self._word_forms(first, pos))
        elif pos == "n":
            start, _, last = phrase.rpartition(" ")
            yield from (f"{start} {form}" for form in self._word_forms(last, pos))

    def _word_forms(self, word: str, pos: str) -> Iterator[str]:
        if irregular := self._exceptions[pos].get(word):
            yield from irregular
            return
        if pos == "n" and word.endswith("ss"):
            return
        for ending, replacement in _DETACHMENT[pos]:
            if word.endswith(ending):
                yield word.removesuffix(ending) + replacement

    def _synsets_of(self, phrase: str) -> frozenset[Synset]:
        return frozenset(
            synset for pos, lemma in self.lemmas(phrase) for synset in self._synsets[pos][lemma]
        )

    def knows(self, phrase: str) -> bool:
        """Tell whether a phrase in lower case, or what it is a form of, is in WordNet."""
        return bool(self.lemmas(phrase))

    def relation(self, phrase: str, paraphrase: str) -> str | None:
        """Return how two phrases in lower case are related.

        Returns:
            FORM: they are forms of one lemma; SYNONYM: they have different lemmas in one synset;
            HYPERNYM: a synset of one is directly above a synset of the other; else None.
        """
        if self.lemmas(phrase) & self.lemmas(paraphrase):
            return FORM
        first, second = self.synsets(phrase), self.synsets(paraphrase)
        if first & second:
            return SYNONYM
        above = any(self._hypernyms.get(synset, frozenset()) & second for synset in first)
        below = any(self._hypernyms.get(synset, frozenset()) & first for synset in second)
        return HYPERNYM if above or below else None

    def antonyms(self, phrase: str, paraphrase: str) -> bool:
        """Tell whether two phrases have lemmas that are antonyms in any of their senses."""
        first = {lemma for _, lemma in self.lemmas(phrase)}
        second = {lemma for _, lemma in self.lemmas(paraphrase)}
        return any((one, other) in self._antonyms for one in first for other in second)


def _synset(
    line: str, pos: str
) -> tuple[Synset, tuple[str, ...], frozenset[Synset], list[tuple[int, Synset, int]]]:
    """Return a line's synset: itself, its words, what is above it, and antonyms of its words."""
    fields = line.partition(" | ")[0].split()
    count = int(fields[3], 16)
    if not 0 < count <= len(fields):
        raise ValueError(f"{count} words")
    names = tuple(_word(name) for name in fields[4 : 4 + 2 * count : 2])
    start = 5 + 2 * count
    pointers = int(fields[start - 1])
    rest = fields[start : start + 4 * pointers]
    if len(names) != count or len(rest) != 4 * pointers:
        raise ValueError("it is cut off")
    general, opposed = set(), []
    for symbol, offset, other_pos, places in zip(*(iter(rest),) * 4, strict=True):
        other = ("a" if other_pos == "s" else other_pos, int(offset))
        if symbol in _HYPERNYMS:
            general.add(other)
        elif symbol == _ANTONYM:
            place, other_place = int(places[:2], 16), int(places[2:], 16)
            if not 0 < place <= count or not other_place:
                raise ValueError("antonyms are words")
            opposed.append((place, other, other_place))
    return (pos, int(fields[0])), names, frozenset(general), opposed


def _word(name: str) -> str:
    for marker in _MARKERS:  # where an adjective may stand
        name = name.removesuffix(marker)
    return name.replace("_", " ").lower()


def _exceptions(path: Path) -> dict[str, list[str]]:
    lemmas_of: dict[str, list[str]] = defaultdict(list)
    for line in _lines(path):
        if line:
            inflected, *lemmas = (word.replace("_", " ") for word in line.split())
            lemmas_of[inflected] += lemmas
    return dict(lemmas_of)


def _lines(path: Path) -> Iterator[str]:
    try:
        yield from read_lines(path)
    except InputError as error:
        raise InputError(
            f"{error}; name the folder of WordNet's database files (Debian: apt-get install "
            "wordnet-base, /usr/share/wordnet)"
        ) from error
