"""How words are written: their forms, their pieces, and whether a text has them."""

import unicodedata
from collections.abc import Callable, Iterator
from itertools import islice, product

import regex

from workflow_scripts.core.text.normalisation import spellings, written_without_blanks
from workflow_scripts.core.text.piece_spelling import WORD_MARK
from workflow_scripts.nmt.vocabulary import BOS, SYMBOLS, Vocabulary

# A search gets at most this many ways to write a spelling; those of the fewest pieces come first.
MOST_SEGMENTATIONS = 200
START = SYMBOLS[BOS]
# In phrases of up to this many words each may have a capital: there are 3 ways to write each.
_WORDS_WITH_CAPITALS = 4

# Signs that people type for each other: apostrophes and hyphens. Phones write the curved and the
# long ones, vocabularies often know the straight and the short ones alone.
_ALIKE = str.maketrans(
    dict.fromkeys("\u2018\u2019\u02bc\u00b4`", "'") | dict.fromkeys("\u2010\u2011", "-")
)
_IN_WORD = r"[\p{L}\p{M}\p{N}]"

Forms = Callable[[str], tuple[str, ...]]


def at_start(phrase: str) -> tuple[bool, str]:
    """Return whether a phrase counts at the start of a sentence only, and the phrase itself."""
    return phrase.startswith(START), phrase.removeprefix(START).strip()


def plain(text: str) -> str:
    """Return a text in its plainest spelling, as words are compared.

    That is NFKC, as SentencePiece reads it, without invisible signs (soft hyphens, blanks of no
    width), with straight apostrophes and short hyphens.
    """
    if text.isascii():
        return text.translate(_ALIKE)
    written = unicodedata.normalize("NFKC", text.translate(_ALIKE))
    return "".join(sign for sign in written if unicodedata.category(sign) != "Cf").translate(_ALIKE)


def holds(text: str, phrase: str, *, affirmed: bool = False) -> bool:
    """Tell whether a text has a phrase as whole words, in whatever case and spelling (`plain`).

    A phrase that begins with `<s>` counts at the start only, where quotes and brackets may stand
    before it. In scripts without blanks no sign tells where a word ends: there it counts anywhere.

    Args:
        text: that is read.
        phrase: that is looked for.
        affirmed: *can't* does not have *can*.
    """
    start, written = at_start(phrase)
    words = plain(written).casefold().strip()
    begins = regex.match(_IN_WORD, words) and not written_without_blanks(words[:1])
    ends = regex.search(f"{_IN_WORD}$", words) and not written_without_blanks(words[-1:])
    before = f"(?<!{_IN_WORD})" if begins else ""
    before = rf"^[^\p{{L}}\p{{M}}\p{{N}}]*?{before}" if start else before
    negated = f"|'t(?!{_IN_WORD})" if affirmed else ""
    after = f"(?!{_IN_WORD}{negated})" if ends else ""
    pattern = r"\s+".join(map(regex.escape, words.split()))
    return regex.search(f"{before}{pattern}{after}", plain(text).casefold()) is not None


def capitals(phrase: str) -> list[str]:
    """Return a phrase as it stands, and with each of its words in lower case and capitalised.

    A phrase of more than `_WORDS_WITH_CAPITALS` words is returned only as it stands.
    """
    start, words = at_start(phrase)
    if len(words.split()) > _WORDS_WITH_CAPITALS:
        return [phrase]
    lead = f"{START} " if start else ""
    choices = (spellings(word, case=True) for word in words.split())
    return list(dict.fromkeys([phrase, *(lead + " ".join(parts) for parts in product(*choices))]))


def forms_of(phrase: str, inflections: Forms) -> list[str]:
    """Return a phrase and its inflections, in which one of its words has another form."""
    words = phrase.split()
    forms = [phrase]
    for place, word in enumerate(words):
        for form in inflections(word.lower()):
            if form != word.lower():
                forms.append(" ".join([*words[:place], form, *words[place + 1 :]]))
    return list(dict.fromkeys(forms))


def every_segmentation(
    phrase: str, vocabulary: Vocabulary, unmarked_start: bool = False
) -> list[tuple[int, ...]]:
    """Return the ways to write a phrase in pieces, as it stands, in lower case and capitalised.

    For each spelling at most `MOST_SEGMENTATIONS`, those of the fewest pieces first. With
    `unmarked_start` the first word of a sentence may stand there without its mark.
    """
    start, words = at_start(phrase)
    symbol = (BOS,) if start else ()
    segmentations: dict[tuple[int, ...], None] = {}
    for spelling in spellings(words, case=True):
        written = WORD_MARK + WORD_MARK.join(spelling.split())
        # Where nothing stands between words, a word's first piece needs no mark.
        ways = [(symbol, written)]
        if written_without_blanks(spelling[:1]):
            ways.append((symbol, written[1:]))
        elif unmarked_start:
            ways.append(((BOS,), written[1:]))
        for before, text in ways:
            for pieces in islice(_segmentations(text, vocabulary), MOST_SEGMENTATIONS):
                segmentations[(*before, *vocabulary.ids(pieces))] = None
    return list(segmentations)


def _segmentations(text: str, vocabulary: Vocabulary) -> Iterator[tuple[str, ...]]:
    """Yield the sequences of pieces that write a text, those of the fewest pieces first.

    Of the same number those that begin with long pieces come first. No dead end is walked: for each
    place it is known in how many pieces the rest can be written.
    """
    size = len(text)
    follows: list[list[int]] = [[] for _ in range(size)]
    # By place: bit n is set where the rest can be written in n pieces.
    numbers = [0] * size + [1]
    for begin in range(size - 1, -1, -1):
        follows[begin] = [
            end for end in range(size, begin, -1) if numbers[end] and text[begin:end] in vocabulary
        ]
        for end in follows[begin]:
            numbers[begin] |= numbers[end] << 1

    def rest(begin: int, number: int) -> Iterator[tuple[str, ...]]:
        if begin == size:
            yield ()
            return
        for end in follows[begin]:
            if numbers[end] >> (number - 1) & 1:
                for others in rest(end, number - 1):
                    yield (text[begin:end], *others)

    for number in range(1, size + 1):
        if numbers[0] >> number & 1:
            yield from rest(0, number)
