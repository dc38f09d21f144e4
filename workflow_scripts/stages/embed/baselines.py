"""BLEU and METEOR as similarities of two sentences: baselines of ParaNMT's Table 8.

The paper does not say which smoothing, tokens or direction it takes. Here the first sentence is the
reference and the second the hypothesis, and words are those of `core.text.normalisation.words`.

METEOR is NLTK's: exact matches and stems, with the weights of Lavie and Agarwal (2007). The paper's
is METEOR 1.5 (Denkowski and Lavie, 2014), which also matches synonyms and paraphrases by tables of
its own: ours is like METEOR, and not the same measure.
"""

from collections.abc import Callable, Sequence

import numpy as np
import sacrebleu
from nltk.stem import PorterStemmer, StemmerI
from nltk.translate.meteor_score import single_meteor_score
from numpy.typing import NDArray

from workflow_scripts.core.text.normalisation import words
from workflow_scripts.stages.embed.sts_readers import DataSet

Measure = Callable[[list[str], list[str]], float]


class _WithoutSynonyms:
    """Stands in for WordNet, which NLTK would have to download."""

    def synsets(self, word: str) -> list[str]:
        """Return no set of synonyms."""
        return []


class _WithoutStems(StemmerI):  # type: ignore[misc]
    """For languages of which METEOR has no stemmer here: a word is its own stem."""

    def stem(self, token: str) -> str:
        """Return the word."""
        return token


def bleu(reference: list[str], hypothesis: list[str]) -> float:
    """Return sentence BLEU of words, 0 to 100, with sacrebleu's smoothing `exp`."""
    score = sacrebleu.sentence_bleu(
        " ".join(hypothesis), [" ".join(reference)], tokenize="none", smooth_method="exp"
    )
    return float(score.score)


def meteor(language: str) -> Measure:
    """Return METEOR of words without synonyms, 0 to 1; stems match in English."""
    stemmer = PorterStemmer() if language == "en" else _WithoutStems()

    def score(reference: list[str], hypothesis: list[str]) -> float:
        return float(
            single_meteor_score(reference, hypothesis, stemmer=stemmer, wordnet=_WithoutSynonyms())
        )

    return score


def baselines(data_sets: Sequence[DataSet], language: str) -> dict[str, list[NDArray[np.float64]]]:
    """Return the `bleu` and the `meteor` of each pair of each data set."""
    measures: dict[str, Measure] = {"bleu": bleu, "meteor": meteor(language)}
    texts = [data_set.pairs for data_set in data_sets]
    split = [[(words(one), words(other)) for one, other in pairs] for pairs in texts]
    return {
        name: [np.array([measure(*pair) for pair in pairs]) for pairs in split]
        for name, measure in measures.items()
    }
