"""What no careful editor prints: a word misspelt, untranslated, twice, or without its article.

Each counts words, and none that the reference warrants.
"""

from collections import Counter
from itertools import pairwise, takewhile

import numpy as np
from rapidfuzz.distance import OSA, Levenshtein

from workflow_scripts.core.text.closed_classes import PRONOUNS
from workflow_scripts.core.text.english_forms import getAllLemmas
from workflow_scripts.core.text.text_tokens import is_word, tokens, words_in_place
from workflow_scripts.plan.catalogues.pair_features import ENGLISH
from workflow_scripts.stages.judge.features.dictionary import ENGLISH_WORDS
from workflow_scripts.stages.judge.features.edits import is_invented, word_parts
from workflow_scripts.stages.judge.features.feature import Feature, Models, of_texts
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs

# Shorter words of a dictionary are like many others.
_LETTERS = 4
# A word of this many letters may differ in two places.
_LONG = 6
_INDEFINITE = ("a", "an")
# What stands in an article's place.
_DETERMINERS = {"a", "an", "the", "this", "that", "these", "those", "some", "any", "no", "every"}
_DETERMINERS |= {"each", "all", "both", "one", "another", "such", "whose", "which", "what"}
_DETERMINERS |= {"my", "your", "his", "her", "its", "our", "their"}
# With the article they say how much.
_AMOUNTS = ("lot", "few", "little", "bit")
# Of these and of verbs and adverbs none is part of a name.
_NEVER_NAMES = (PRONOUNS | {"a", "an", "the"}) - {"i"}


def doubled_words(reference: str, paraphrase: str) -> int:
    """Return how often a word stands twice in a row, and not in the reference.

    Case does not count. With a mark between them ("long, long") they are none.
    """
    return (_doubled(paraphrase) - _doubled(reference)).total()


def _doubled(sentence: str) -> Counter[str]:
    lower = tokens(sentence.lower())
    return Counter(one for one, other in pairwise(lower) if one == other and is_word(one))


def inner_capitals(reference: str, paraphrase: str) -> int:
    """Return how many words have a capital that is none of a name's, inside a sentence.

    Such a word is an English pronoun but "I", an article, or one that the dictionary has as a verb
    or an adverb alone. The reference does not have it with a capital.
    """
    of_reference = {word for word, _ in words_in_place(reference)}
    return sum(
        not begins and word.istitle() and word not in of_reference and _is_no_name(word.lower())
        for word, begins in words_in_place(paraphrase)
    )


def _is_no_name(word: str) -> bool:
    return word in _NEVER_NAMES or {"VERB", "ADV"} >= getAllLemmas(word).keys() > set()


def _unknown(reference: str, paraphrase: str) -> list[str]:
    """Return the words, in lower case, that neither the reference nor a dictionary has."""
    of_reference = set(word_parts(reference))
    return [word for word in word_parts(paraphrase) if is_invented(word, of_reference)]


def respelt_words(reference: str, paraphrase: str) -> int:
    """Return how many words are misspelt ones of the reference: "Majidi" for "Majid".

    Such a word is not in the dictionary. It is one step (a letter put in, left out or changed, or
    two neighbours exchanged) from a word of the reference that the paraphrase lacks; two steps if
    it has six letters. Words of the reference with less than four letters count if the dictionary
    lacks them, too.
    """
    lost = set(word_parts(reference)) - set(word_parts(paraphrase))
    lost = {word for word in lost if len(word) >= _LETTERS or word not in ENGLISH_WORDS}
    return sum(
        any(OSA.distance(word, other) <= 1 + (len(word) >= _LONG) for other in lost)
        for word in _unknown(reference, paraphrase)
    )


def untranslated_words(source: str, reference: str, paraphrase: str) -> int:
    """Return how many words are those of the source, or like one: "chacots" for "chacotas".

    Such a word has four letters and more, and neither the reference nor the dictionary has it. It
    is at most one step for each four letters (one put in, left out or changed) from a word of the
    source.
    """
    of_source = set(word_parts(source))
    return sum(
        any(Levenshtein.distance(word, other) <= len(word) // _LETTERS for other in of_source)
        for word in _unknown(reference, paraphrase)
        if len(word) >= _LETTERS
    )


def lost_articles(reference: str, paraphrase: str) -> int:
    """Return how many words have lost their "a" or "an": "very good writer" for "a good writer".

    Of the three words behind such an article of the reference, the first that the paraphrase has,
    too, is looked at. Its article is lost if none of the four tokens before it is an article, a
    possessive or another determiner. No more are lost than the paraphrase has fewer.
    "A lot", "a few", "a little" and "a bit" don't count.
    """
    first, second = tokens(reference.lower()), tokens(paraphrase.lower())
    fewer = sum(word in _INDEFINITE for word in first) - sum(word in _INDEFINITE for word in second)
    lost = 0
    for place, word in enumerate(first):
        behind = list(takewhile(is_word, first[place + 1 : place + 4]))
        kept = next((each for each in behind if each in second), None)
        if word in _INDEFINITE and kept is not None and behind[0] not in _AMOUNTS:
            end = second.index(kept)
            lost += not any(map(_determines, second[max(0, end - 4) : end]))
    return max(0, min(lost, fewer))


def _determines(word: str) -> bool:
    return word in _DETERMINERS or word.endswith(("'s", "s'", "’s"))


def _untranslated(pairs: Pairs, _: Models) -> Numbers:
    """Return zeros where the sources are not known: nothing tells then where a word is from."""
    if pairs.sources is None:
        return np.zeros(len(pairs))
    texts = zip(pairs.sources, pairs.references, pairs.paraphrases, strict=True)
    return np.array([untranslated_words(*each) for each in texts], np.float64)


FEATURES = (
    of_texts("doubled_words", doubled_words),
    of_texts("inner_capitals", inner_capitals, ENGLISH),
    of_texts("respelt_words", respelt_words, ENGLISH),
    Feature("untranslated_words", _untranslated, languages=ENGLISH),
    of_texts("lost_articles", lost_articles, ENGLISH),
)
