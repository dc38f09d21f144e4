"""Words whose loss or change of form makes an English sentence wrong, whatever it means.

No parser says what a word is. So a rule asks for neighbours among which only one reading is left,
by lists of function words and by lemminflect's dictionary, and else leaves the word alone.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from workflow_scripts.core.text.english_forms import getAllInflections, getAllLemmas


class Change(NamedTuple):
    """What may be written for a word of a sentence: `new`, or nothing where it is dropped."""

    place: int
    new: str


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# After these, "is" and "was" may also be plural: nobody sees of how many they speak.
_OPEN_NUMBER = _set(
    "which that who what there all none some any more most rest half lot majority number "
    "family team police staff crowd government company group band couple pair public crew "
    "committee audience class"
)
_MODALS = _set("will would can could may might must shall should need dare ought")
_PLURAL_PRONOUNS = frozenset(("they", "we", "you"))
_SINGULAR_PRONOUNS = frozenset(("he", "she", "it"))
# With one of these, "were" stands with one person too.
_UNREAL = _set("if wish wished wishes though unless suppose whether as than lest")
_NUMERALS = _set("two three four five six seven eight nine ten eleven twelve")
_PLURAL_DETERMINERS = _NUMERALS | {"these", "those", "many", "several"}
_SINGULAR_DETERMINERS = frozenset(("a", "an", "every", "another"))
_TO_SINGULAR = {"are": "is", "have": "has", "do": "does", "were": "was"}
_TO_PLURAL = {"is": "are", "has": "have", "does": "do", "was": "were"}
_OF_I = {"am": "is", "have": "has", "do": "does"}
_BE = frozenset(("is", "are", "am", "was", "were", "be", "been"))
# A preposition after one of these may be left out.
_OF_OPTIONAL = _set("all both half outside inside off out because")
_TO_OPTIONAL = _set(
    "help helps helped helping come comes came go goes went going dare need next close near"
)
# What may be said twice, for emphasis or because two of them meet.
_TWICE = _set(
    "had that very so no yes bye ha really many much more again far do is long never ever on in "
    "her there well now too oh hey come go please wait good great big old hello"
)


def droppable(words: Sequence[str]) -> Iterator[int]:
    """Yield the places of words without which the sentence is wrong.

    These are a and an before what does not stand alone, of, at, "to" before a bare verb, forms of
    be, and an "and" between two words.

    Args:
        words: of the sentence, in lower case, and an empty string for punctuation between them
            and for each token that is no word.
    """
    for place, (before, word, after) in _in_context(words):
        if not after:
            continue
        if (
            (word in ("a", "an") and _needs_article(after))
            or (word == "of" and before not in _OF_OPTIONAL)
            or word == "at"
            or (word == "and" and before)
            or (word == "to" and before not in _TO_OPTIONAL and _is_bare_verb(after))
            # "The man was killed" is a sentence without "was", too.
            or (word in _BE and before and not _tags(after) & {"VBD", "VBN"})
        ):
            yield place


def may_be_doubled(word: str) -> bool:
    """Return whether a word in lower case may stand twice in a right sentence."""
    return word in _TWICE or not {"ADJ", "ADV"}.isdisjoint(getAllLemmas(word))


def verbs(words: Sequence[str]) -> Iterator[Change]:
    """Yield finite verbs with the form that does not agree with their subject; see `droppable`."""
    unreal = not _UNREAL.isdisjoint(words)
    for place, (before, word, _) in _in_context(words):
        if not before or before in _OPEN_NUMBER or (unreal and word in ("was", "were")):
            continue
        if before == "i":
            new = _OF_I.get(word) or _third_person(word)
        elif before in _PLURAL_PRONOUNS:
            new = _TO_SINGULAR.get(word)
            # "Give you time" has an object, where "you give" has a subject.
            if new is None and not (before == "you" and "NOUN" in getAllLemmas(word)):
                new = _third_person(word)
        elif number(before) == "plural":
            new = _TO_SINGULAR.get(word)
        else:
            new = _TO_PLURAL.get(word)
            certain = before in _SINGULAR_PRONOUNS or before.endswith("ly")
            if new is None and (certain or number(before) == "singular"):
                new = _base(word, certain)
        if new is not None and new != word:
            yield Change(place, new)


def determiners(words: Sequence[str]) -> Iterator[Change]:
    """Yield determiners and nouns with a form that does not agree with the other.

    That is a or an before the other sound, this and these exchanged, a singular noun after a
    numeral, and a plural one after an article.
    """
    for place, (before, word, after) in _in_context(words):
        if word in ("a", "an") and after and after[0] not in "hu":
            yield Change(place, "an" if word == "a" else "a")
        elif word == "this" and after not in _MODALS and number(after) == "singular":
            if "VBD" not in _tags(after):
                yield Change(place, "these")
        elif word == "these" and number(after) == "plural":
            yield Change(place, "this")
        elif before in _PLURAL_DETERMINERS and number(word) == "plural":
            yield Change(place, getAllLemmas(word, upos="NOUN")["NOUN"][0])
        elif (
            before in _SINGULAR_DETERMINERS
            and number(word) == "singular"
            and {"ADJ", "ADV"}.isdisjoint(getAllLemmas(word))
        ):
            yield Change(place, _plural(word))


def _in_context(words: Sequence[str]) -> Iterator[tuple[int, tuple[str, str, str]]]:
    """Yield the place of each word, with the words before and after it; empty if there is none."""
    padded = ["", *words, ""]
    for place, word in enumerate(words):
        if word:
            yield place, (padded[place], word, padded[place + 2])


@lru_cache(maxsize=1 << 16)
def _tags(word: str) -> frozenset[str]:
    """Return the tags of the Penn Treebank that a word may have."""
    return frozenset(
        tag
        for part, lemmas in getAllLemmas(word).items()
        for lemma in lemmas
        for tag, forms in getAllInflections(lemma, upos=part).items()
        if word in forms
    )


@lru_cache(maxsize=1 << 16)
def number(word: str) -> str | None:
    """Return whether a noun is singular or plural; None: it may be both, or is no noun."""
    lemmas = getAllLemmas(word, upos="NOUN").get("NOUN", ())
    if not lemmas:
        return None
    if word in lemmas:
        return "singular" if lemmas == (word,) and _plural(word) != word else None
    return "plural"


def _is_bare_verb(word: str) -> bool:
    """Return whether a word is the bare form of a verb, and no noun: "pass to teachers"."""
    return "VB" in _tags(word) and "NOUN" not in getAllLemmas(word)


def _needs_article(word: str) -> bool:
    """Return whether a word is a noun that does not stand alone in the singular, as "table"."""
    return number(word) == "singular" and "NNS" not in _tags(word)


def _plural(word: str) -> str:
    """Return the plural of a noun that differs from it; the noun itself if there is none."""
    forms = getAllInflections(word, upos="NOUN").get("NNS", ())
    return next((form for form in forms if form != word), word)


def _third_person(word: str) -> str | None:
    """Return "goes" for "go"; None for what is no verb, or also a word that joins verbs."""
    readings = getAllLemmas(word)
    if word in _MODALS or word in readings.get("AUX", ()) or word not in readings.get("VERB", ()):
        return None
    if not {"ADJ", "ADV"}.isdisjoint(readings):
        return None
    return next(iter(getAllInflections(word, upos="VERB").get("VBZ", ())), None)


def _base(word: str, certain: bool) -> str | None:
    """Return "go" for "goes"; None for other forms, and for a possible noun unless `certain`."""
    if "VBZ" not in _tags(word) or ("NNS" in _tags(word) and not certain):
        return None
    return getAllLemmas(word, upos="VERB")["VERB"][0]
