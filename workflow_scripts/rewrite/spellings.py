"""How words are written: their forms, their pieces, and whether a text has them."""

from collections.abc import Callable, Iterable, Iterator

import regex

from workflow_scripts.core.text import spellings
from workflow_scripts.nmt.vocabulary import BOS, SYMBOLS, WORD_MARK, Vocabulary

# Ways to write one spelling that a search is told; those of the fewest pieces come first.
MOST_SEGMENTATIONS = 200
START = SYMBOLS[BOS]

Forms = Callable[[str], tuple[str, ...]]


def at_start(phrase: str) -> tuple[bool, str]:
    """Return whether a phrase counts at the start of a sentence only, and the phrase itself."""
    return phrase.startswith(START), phrase.removeprefix(START).strip()


def holds(text: str, phrase: str) -> bool:
    """Tell whether a text has a phrase as whole words, in whatever case.

    A phrase that begins with `<s>` counts at the start only.
    """
    start, words = at_start(phrase)
    before = "^" if start else r"(?<!\w)" if regex.match(r"\w", words) else ""
    after = r"(?!\w)" if regex.search(r"\w$", words) else ""
    pattern = r"\s+".join(map(regex.escape, words.casefold().split()))
    return regex.search(f"{before}{pattern}{after}", text.casefold()) is not None


def forms_of(phrase: str, inflections: Forms) -> list[str]:
    """Return a phrase and its inflections, in which one of its words has another form."""
    words = phrase.split()
    found = [phrase]
    for place, word in enumerate(words):
        for form in inflections(word.lower()):
            if form != word.lower():
                found.append(" ".join([*words[:place], form, *words[place + 1 :]]))
    return list(dict.fromkeys(found))


def every_segmentation(phrase: str, vocabulary: Vocabulary) -> list[tuple[int, ...]]:
    """Return the ways to write a phrase in pieces, as it stands, in lower case and capitalised.

    For each spelling at most `MOST_SEGMENTATIONS`, those of the fewest pieces first.
    """
    start, words = at_start(phrase)
    symbol = (BOS,) if start else ()
    found: dict[tuple[int, ...], None] = {}
    for spelling in spellings(words, case=True):
        written = WORD_MARK + WORD_MARK.join(spelling.split())
        for pieces in _first(_segmentations(written, vocabulary)):
            found[(*symbol, *vocabulary.ids(pieces))] = None
    return list(found)


def _first(found: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    for _, pieces in zip(range(MOST_SEGMENTATIONS), found, strict=False):
        yield pieces


def _segmentations(text: str, vocabulary: Vocabulary) -> Iterator[tuple[str, ...]]:
    """Yield the sequences of pieces that write a text, those of the fewest pieces first.

    Breadth first over the pieces that can end in a whole text: no dead end is walked.
    """
    size = len(text)
    follows: list[list[int]] = [[] for _ in range(size)]
    reaches = [False] * size + [True]
    for begin in range(size - 1, -1, -1):
        follows[begin] = [
            end
            for end in range(begin + 1, size + 1)
            if reaches[end] and text[begin:end] in vocabulary
        ]
        reaches[begin] = bool(follows[begin])
    # So many paths of a length are kept, the long pieces first: more would not be used.
    paths: list[tuple[int, ...]] = [(0,)]
    while paths:
        longer = [(*path, end) for path in paths for end in reversed(follows[path[-1]])]
        for path in longer:
            if path[-1] == size:
                yield tuple(text[path[n] : path[n + 1]] for n in range(len(path) - 1))
        paths = [path for path in longer if path[-1] < size][: 20 * MOST_SEGMENTATIONS]
