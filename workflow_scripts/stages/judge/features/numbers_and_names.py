"""Whether both sides have the same numbers, names and dates, and a negation or none."""

from collections import Counter
from collections.abc import Container, Iterator
from decimal import Decimal

import regex

from workflow_scripts.core.text.closed_classes import CLASSES
from workflow_scripts.core.text.text_tokens import parts, tokens, words_in_place
from workflow_scripts.plan.catalogues.pair_features import ENGLISH
from workflow_scripts.stages.judge.features.feature import Feature, Models, of_texts
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs, numbers_of

_THOUSANDS = regex.compile(r"\p{N}{1,3}(?:\.\p{N}{3})+|\p{N}{1,3}(?:,\p{N}{3})+")
_MARK = regex.compile(r"[.,:]")
_DECIMAL = regex.compile(r"[0-9]+(?:\.[0-9]+)?")
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(_UNITS.split())}
_SMALL |= {word: 10 * tens for tens, word in enumerate(_TENS.split(), start=2)}
_GREAT = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
# One of these, or a word with n't, makes a clause negative.
_NEGATIVE = "no not never nobody nothing nowhere none nor neither cannot without"
_NEGATIONS = frozenset(_NEGATIVE.split())


def dice(first: Counter[str], second: Counter[str]) -> float:
    """Return twice what both have, as a share of what they have in all; 1 if neither has any."""
    together = first.total() + second.total()
    return 2 * (first & second).total() / together if together else 1.0


def numbers(sentence: str, english: bool) -> Counter[str]:
    """Return the numbers of a sentence; those that mean the same are equal.

    Points and commas between thousands are left out, other marks between digits are the same;
    what has letters (`3rd`, `B52`) stands as it is. In English words are numbers, too, and
    multiply (`two hundred and five`, `3 million`), but 1 is none: `one` is a pronoun, and `a` says
    the same.
    """
    counts: Counter[str] = Counter()
    words = [token.lower() for token in tokens(sentence)]
    place = 0
    while place < len(words):
        value, after = _english(words, place) if english else (None, place)
        if value is not None:
            counts[f"{value.normalize():f}"] += 1
        elif any(character.isnumeric() for character in words[place]):
            counts[_plain(words[place])] += 1
        place = max(after, place + 1)
    if english:
        del counts["1"]
    return counts


def _plain(number: str) -> str:
    """Return a number in digits without marks between thousands, and with points for others."""
    bare = number.replace(",", "").replace(".", "") if _THOUSANDS.fullmatch(number) else number
    return _MARK.sub(".", bare)


def _english(words: list[str], place: int) -> tuple[Decimal | None, int]:
    """Return the value of the English number that begins at a place, and where it ends."""
    value, end = _small(words, place)
    if value is None and words[place].isascii() and _DECIMAL.fullmatch(_plain(words[place])):
        value, end = Decimal(_plain(words[place])), place + 1
    if value is None and words[place] in _GREAT:  # a hundred
        value, end = Decimal(1), place
    if value is None:
        return None, place
    if _word(words, end) == "hundred":
        more, after = _small(words, end + 1 + (_word(words, end + 1) == "and"))
        value, end = 100 * value + (more or 0), after if more else end + 1
    while (scale := _GREAT.get(_word(words, end))) is not None:
        value, end = value * scale, end + 1
    return value, end


def _small(words: list[str], place: int) -> tuple[Decimal | None, int]:
    """Return the value of a number word below 100, and where it ends."""
    value = _SMALL.get(_word(words, place))
    if value is None:
        return None, place
    if value >= 20:
        unit = place + 1 + (_word(words, place + 1) == "-")
        if 0 < _SMALL.get(_word(words, unit), 0) < 10:
            return Decimal(value + _SMALL[words[unit]]), unit + 1
    return Decimal(value), place + 1


def _word(words: list[str], place: int) -> str:
    return words[place] if place < len(words) else ""


def names(sentence: str, known: Container[str]) -> Counter[str]:
    """Return the names of a sentence, each once.

    A name is a word of two letters and more with a capital, and what follows an apostrophe does
    not belong to it. At the beginning of a sentence, it is one if the references don't hold it in
    lower case.
    """
    distinct = set()
    for word, begins in words_in_place(sentence):
        name = parts(word)[0]
        if len(name) > 1 and name[0].isupper() and not (begins and name.lower() in known):
            distinct.add(name.casefold())
    return Counter(distinct)


def negated(sentence: str) -> bool:
    """Tell whether an English sentence has a negation."""
    return any(
        word in _NEGATIONS or word.endswith(("n't", "n’t"))
        for word in map(str.lower, tokens(sentence))
    )


def exchanged_words(reference: str, paraphrase: str) -> int:
    """Return how many words of closed English classes stand for another one of their class.

    The classes are months, weekdays, seasons, times of the day, days from now, units of time,
    points of the compass, persons by sex or kinship, and colours. Of each, the words that one side
    alone has are counted, and the smaller number of both sides counts: what is only left out or
    added is not exchanged.
    """
    sides = [Counter(_of_classes(text)) for text in (reference, paraphrase)]
    lost, new = sides[0] - sides[1], sides[1] - sides[0]
    by_class = [Counter(CLASSES[word] for word in side.elements()) for side in (lost, new)]
    return (by_class[0] & by_class[1]).total()


def _of_classes(sentence: str) -> Iterator[str]:
    for word in map(str.lower, tokens(sentence)):
        first = parts(word)[0]
        yield from (each for each in {first, first.removesuffix("s")} if each in CLASSES)


def _numbers(pairs: Pairs, models: Models) -> Numbers:
    english = models.language in ENGLISH
    return numbers_of(
        pairs, lambda first, second: dice(numbers(first, english), numbers(second, english))
    )


def _names(pairs: Pairs, models: Models) -> Numbers:
    known = models.known_words
    assert known is not None
    return numbers_of(pairs, lambda first, second: dice(names(first, known), names(second, known)))


FEATURES = (
    Feature("numbers", _numbers),
    Feature("names", _names, models=("known_words",)),
    of_texts("negation", lambda first, second: negated(first) == negated(second), ENGLISH),
    of_texts("exchanged_words", exchanged_words, ENGLISH),
)
