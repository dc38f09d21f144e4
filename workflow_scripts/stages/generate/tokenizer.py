"""The tokens of ParaBank's constraints: those of spaCy's tokenizer of a language (3.1, 3.2).

"mother's" has the word mother, and "backward-compatible" has backward and compatible.
"""

from collections.abc import Callable
from functools import lru_cache
from threading import Lock

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.generate.constraint_words import (
    Split,
    Word,
    between_blanks,
    without_marks,
)

# Gives the ends of the tokens, punctuation too, of what stands between two blanks.
Ends = Callable[[str], tuple[int, ...]]


@lru_cache
def token_ends(language: str) -> Ends | None:
    """Return what finds the tokens of a language; None: spaCy has no tokenizer for it.

    spaCy cuts what stands between two blanks by itself, whatever is around it.

    Raises:
        InputError: spaCy is not installed.
    """
    try:
        import spacy  # takes a second: only where words are chosen
    except ImportError as error:
        raise InputError(
            "constraints.variants: spaCy is not installed, whose tokens are the words that can be "
            "chosen; install it as requirements/lock.txt says, or all packages by make setup"
        ) from error
    try:
        nlp = spacy.blank(language)
    except ImportError:  # no such language, or one that needs packages of its own
        return None

    lock = Lock()  # a memory zone is for one thread

    def ends(text: str) -> tuple[int, ...]:
        # Without a zone spaCy keeps every text that it has seen.
        with lock, nlp.memory_zone():
            return tuple(token.idx + len(token.text) for token in nlp.tokenizer(text))

    return ends


@lru_cache
def splitter(language: str | None) -> Split:
    """Return what gives the words of the text between two blanks.

    Args:
        language: of the sentences. None, or one for which spaCy has no tokenizer: each text has one
            word, without the punctuation around it.

    Raises:
        InputError: as in `token_ends`.
    """
    ends = token_ends(language) if language else None
    if ends is None:
        return between_blanks

    @lru_cache(maxsize=1 << 17)
    def split(text: str) -> tuple[Word, ...]:
        found, start = [], 0
        for end in ends(text):
            token, rest = text[start:end], text[end:]
            if any(map(str.isalpha, token)):
                found.append(Word(text[:start], token, without_marks(rest)))
            start = end
        return tuple(found)

    return split


def first_tokens(sentence: str, count: int, language: str | None) -> tuple[str, str] | None:
    """Return a sentence up to the end of its first tokens, and to the end of the last one's word.

    Its blanks are single ones. The two differ where a token ends inside what stands between two
    blanks: "We do" and "We don't". None: the sentence has fewer tokens.

    Raises:
        InputError: as in `token_ends`.
    """
    ends = token_ends(language) if language else None
    before = ""
    for text in sentence.split():
        of_text = ends(text) if ends else (len(text),)
        if count <= len(of_text):
            end = of_text[count - 1]
            return before + text[:end], before + text[:end] + without_marks(text[end:])
        count -= len(of_text)
        before += f"{text} "
    return None
