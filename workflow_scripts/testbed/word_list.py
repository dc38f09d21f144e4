"""The lexicon of the testbed: its words in both languages.

There is one table per word class in ``lexicon/*.tsv``. A row is a concept: one Czech lemma and its
English synonyms, which the grammar may exchange freely. In a cell, ``|`` separates alternatives,
``:`` the irregular forms of one word and ``+`` a verb from its particle; ``-`` is an empty cell.

- ``nouns.tsv``: concept, kind, czech, gender (``ma`` masculine animate, ``mi`` masculine inanimate,
  ``f``, ``n``), paradigm (the model word it declines like), stem (of the other cases, where it is
  not what the paradigm makes of the lemma), forms (``case.number=form``, exceptions to the
  paradigm), place (``v:in``: the Czech and English prepositions of being there), english
  (``singular`` or ``singular:plural``)
- ``verbs.tsv``: concept, frame, subject, object (kinds or concepts of nouns that suit), government
  (case of the Czech object, after its preposition if it has one: ``na+acc``), imperfective,
  imperfective_class, perfective, perfective_class (``-`` where there is none), state (``state``:
  in English never progressive; ``action``), english (``base`` or ``base:past:participle``, then
  ``+particle``). A class cell is the name of the conjugation, then where needed the present stem,
  the l-participle and the passive participle
- ``adjectives.tsv``: concept, kind (nouns that suit, as above), czech, type (``hard``/``soft``),
  comparative, english (``base`` or ``base:comparative:superlative``)
- ``adverbs.tsv``: concept, kind, tense (``past``, ``present``, ``future``, ``any``), czech, english
- ``names.tsv``: concept, kind (``person``/``city``), czech, gender, paradigm, stem, forms, place,
  english
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypedDict, TypeVar

from workflow_scripts.testbed import spelling
from workflow_scripts.testbed.spelling import article
from workflow_scripts.testbed.structure import Frame

__all__ = [
    "LEXICON",
    "Adjective",
    "Adverb",
    "CzechVerb",
    "EnglishAdjective",
    "EnglishNoun",
    "EnglishVerb",
    "Lexicon",
    "Name",
    "Noun",
    "Place",
    "Verb",
    "article",
    "load",
    "place_of",
    "suits",
]

Text = TypeVar("Text", bound=str)
Entry = TypeVar("Entry")

FOLDER = Path(__file__).parent / "lexicon"

# Those of verbs; "be" has the others.
FRAMES: tuple[Frame, ...] = (
    "transitive",
    "ditransitive",
    "intransitive",
    "motion",
    "clausal",
)
ADVERB_KINDS = ("manner", "time", "place", "frequency", "degree", "sentence")
TENSES = ("past", "present", "future", "any")
GENDERS = ("ma", "mi", "f", "n")


@dataclass(frozen=True)
class EnglishNoun:
    """An English noun with its two forms."""

    singular: str
    plural: str


@dataclass(frozen=True)
class EnglishVerb:
    """The forms of an English verb; ``particle``, unless empty, goes with each of them."""

    base: str
    third: str
    past: str
    participle: str
    gerund: str
    particle: str


@dataclass(frozen=True)
class EnglishAdjective:
    """An English adjective with its degrees."""

    base: str
    comparative: str
    superlative: str


@dataclass(frozen=True)
class Place:
    """The prepositions of being at a place.

    Czech has ``v`` (and ``do`` for going there) or ``na``; English has in, at or on.
    """

    czech: str
    english: str


@dataclass(frozen=True)
class Noun:
    """A noun. ``forms`` lists its exceptions from the paradigm: (cell such as ``gen.pl``, form)."""

    concept: str
    kind: str
    czech: str
    gender: str
    paradigm: str
    stem: str
    forms: tuple[tuple[str, str], ...]
    place: Place | None
    english: tuple[EnglishNoun, ...]


@dataclass(frozen=True)
class Name:
    """A proper name of a person or a city, declined like a noun; ``english`` is its one form."""

    concept: str
    kind: str
    czech: str
    gender: str
    paradigm: str
    stem: str
    forms: tuple[tuple[str, str], ...]
    place: Place | None
    english: str


@dataclass(frozen=True)
class CzechVerb:
    """One aspect of a verb; empty stems follow from the class; ``clitic``: ``se``, ``si``, ""."""

    infinitive: str
    clitic: str
    verb_class: str
    present: str
    past: str
    passive: str


@dataclass(frozen=True)
class Verb:
    """A verb with its frame, the nouns that suit it and its pair of aspects.

    A ``stative`` verb is never progressive in English. ``case`` and ``preposition`` are those of
    the Czech object; both are empty where the frame has none.
    """

    concept: str
    frame: Frame
    subject: tuple[str, ...]
    object: tuple[str, ...]
    preposition: str
    case: str
    imperfective: CzechVerb
    perfective: CzechVerb | None
    stative: bool
    english: tuple[EnglishVerb, ...]


@dataclass(frozen=True)
class Adjective:
    """An adjective; ``kind`` says which nouns it suits."""

    concept: str
    kind: tuple[str, ...]
    czech: str
    type: str
    comparative: str
    english: tuple[EnglishAdjective, ...]


@dataclass(frozen=True)
class Adverb:
    """An adverb, or a fixed expression used as one; it needs a clause in its ``tense``."""

    concept: str
    kind: str
    tense: str
    czech: str
    english: tuple[str, ...]


@dataclass(frozen=True)
class Lexicon:
    """All words of the testbed, each class in the order of its file."""

    nouns: tuple[Noun, ...]
    verbs: tuple[Verb, ...]
    adjectives: tuple[Adjective, ...]
    adverbs: tuple[Adverb, ...]
    names: tuple[Name, ...]

    @cached_property
    def noun(self) -> dict[str, Noun]:
        """Nouns by concept."""
        return {entry.concept: entry for entry in self.nouns}

    @cached_property
    def verb(self) -> dict[str, Verb]:
        """Verbs by concept."""
        return {entry.concept: entry for entry in self.verbs}

    @cached_property
    def adjective(self) -> dict[str, Adjective]:
        """Adjectives by concept."""
        return {entry.concept: entry for entry in self.adjectives}

    @cached_property
    def adverb(self) -> dict[str, Adverb]:
        """Adverbs by concept."""
        return {entry.concept: entry for entry in self.adverbs}

    @cached_property
    def name(self) -> dict[str, Name]:
        """Names by concept."""
        return {entry.concept: entry for entry in self.names}


def place_of(entry: Noun | Name) -> Place:
    """Return the prepositions of a noun or name that is a place.

    Raises:
        ValueError: it is no place.
    """
    if entry.place is None:
        raise ValueError(f"{entry.concept!r} has no prepositions: it is no place")
    return entry.place


def suits(entry: Noun | Name, wanted: Iterable[str]) -> bool:
    """Return whether a noun or name has a kind or concept that a verb or adjective wants."""
    wanted = tuple(wanted)
    return entry.kind in wanted or entry.concept in wanted


def english_noun(text: str) -> EnglishNoun:
    """An English noun from its cell: ``teacher`` or ``man:men``."""
    singular, _, plural = text.partition(":")
    return EnglishNoun(singular, plural or spelling.with_s(singular))


def english_verb(text: str) -> EnglishVerb:
    """An English verb from its cell: ``repair``, ``write:wrote:written`` or ``pick+up``."""
    forms, _, particle = text.partition("+")
    base, *irregular = forms.split(":")
    if len(irregular) not in (0, 2):
        raise ValueError(f"verb {text!r}: give base, or base:past:participle")
    past, participle = irregular or [spelling.with_ed(base)] * 2
    return EnglishVerb(
        base, spelling.with_s(base), past, participle, spelling.with_ing(base), particle
    )


def english_adjective(text: str) -> EnglishAdjective:
    """An English adjective from its cell: ``large`` or ``good:better:best``."""
    base, *irregular = text.split(":")
    if len(irregular) not in (0, 2):
        raise ValueError(f"adjective {text!r}: give base, or base:comparative:superlative")
    comparative, superlative = irregular or spelling.compared(base)
    return EnglishAdjective(base, comparative, superlative)


def _one_of(value: str, allowed: tuple[Text, ...], column: str) -> Text:
    for one in allowed:
        if one == value:
            return one
    raise ValueError(f"{column} {value!r} is none of {', '.join(allowed)}")


def _alternatives(cell: str) -> tuple[str, ...]:
    return tuple(cell.split("|")) if cell else ()


class _Declined(TypedDict):
    """What nouns and names have in common."""

    concept: str
    kind: str
    czech: str
    gender: str
    paradigm: str
    stem: str
    forms: tuple[tuple[str, str], ...]
    place: Place | None


def _form(text: str) -> tuple[str, str]:
    cell, separator, form = text.partition("=")
    if not separator:
        raise ValueError(f"form {text!r}: write case.number=form")
    return cell, form


def _declined(row: dict[str, str]) -> _Declined:
    czech, _, english = row["place"].partition(":")
    return {
        "concept": row["concept"],
        "kind": row["kind"],
        "czech": row["czech"],
        "gender": _one_of(row["gender"], GENDERS, "gender"),
        "paradigm": row["paradigm"],
        "stem": row["stem"],
        "forms": tuple(map(_form, _alternatives(row["forms"]))),
        "place": Place(czech, english) if czech else None,
    }


def _noun(row: dict[str, str]) -> Noun:
    return Noun(**_declined(row), english=tuple(map(english_noun, _alternatives(row["english"]))))


def _name(row: dict[str, str]) -> Name:
    return Name(**_declined(row), english=row["english"])


def _czech_verb(row: dict[str, str], aspect: str) -> CzechVerb:
    infinitive, _, clitic = row[aspect].partition(" ")
    if not infinitive:
        raise ValueError(f"the {aspect} verb is missing")
    verb_class, *listed = row[f"{aspect}_class"].split()
    stems = ["" if stem == "-" else stem for stem in listed]
    present, past, passive = (*stems, "", "", "")[:3]
    return CzechVerb(infinitive, clitic, verb_class, present, past, passive)


def _verb(row: dict[str, str]) -> Verb:
    preposition, _, case = row["government"].rpartition("+")
    return Verb(
        concept=row["concept"],
        frame=_one_of(row["frame"], FRAMES, "frame"),
        subject=_alternatives(row["subject"]),
        object=_alternatives(row["object"]),
        preposition=preposition,
        case=case,
        imperfective=_czech_verb(row, "imperfective"),
        perfective=_czech_verb(row, "perfective") if row["perfective"] else None,
        stative=_one_of(row["state"], ("state", "action"), "state") == "state",
        english=tuple(map(english_verb, _alternatives(row["english"]))),
    )


def _adjective(row: dict[str, str]) -> Adjective:
    return Adjective(
        concept=row["concept"],
        kind=_alternatives(row["kind"]),
        czech=row["czech"],
        type=_one_of(row["type"], ("hard", "soft"), "type"),
        comparative=row["comparative"],
        english=tuple(map(english_adjective, _alternatives(row["english"]))),
    )


def _adverb(row: dict[str, str]) -> Adverb:
    return Adverb(
        concept=row["concept"],
        kind=_one_of(row["kind"], ADVERB_KINDS, "kind"),
        tense=_one_of(row["tense"], TENSES, "tense"),
        czech=row["czech"],
        english=_alternatives(row["english"]),
    )


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE, strict=True)
        for row in reader:
            if None in row or None in row.values():
                raise ValueError(f"{path.name}, line {reader.line_num}: wrong number of columns")
            yield reader.line_num, {key: "" if cell == "-" else cell for key, cell in row.items()}


def _read(path: Path, entry_of: Callable[[dict[str, str]], Entry]) -> tuple[Entry, ...]:
    entries = []
    for line, row in _rows(path):
        try:
            entries.append(entry_of(row))
        except (KeyError, ValueError) as error:
            raise ValueError(f"{path.name}, line {line}: {error}") from error
    return tuple(entries)


def load(folder: Path = FOLDER) -> Lexicon:
    """Read the lexicon from the tables in ``folder``.

    Raises:
        ValueError: a table does not follow its format; the message names file and line.
    """
    return Lexicon(
        nouns=_read(folder / "nouns.tsv", _noun),
        verbs=_read(folder / "verbs.tsv", _verb),
        adjectives=_read(folder / "adjectives.tsv", _adjective),
        adverbs=_read(folder / "adverbs.tsv", _adverb),
        names=_read(folder / "names.tsv", _name),
    )


LEXICON = load()
