"""The figures of an entry: probabilities, pointwise mutual information, and the score."""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Figures = NDArray[np.float64]

# Added to counts of sentences, so that rare ones are sure of nothing.
DOUBT = 1.0
# Added to how often a phrase is aligned, as if it had been aligned with others that often.
SCORE_DOUBT = 20.0


def probability(count: Numbers, total: Numbers) -> Figures:
    """Return the relative frequency of a pair of phrases among all of one of them.

    phi(b | a) = count(a, b) / sum of count(a, .), Koehn et al. (2003), section 2.2.
    """
    return count / total


def mutual_information(together: Numbers, one: Numbers, other: Numbers, sentences: int) -> Figures:
    """Return the pointwise mutual information of two words in nats, drawn to 0 where it is unsure.

    log((together + 1) / (expected + 1)), where expected = one * other / sentences. For frequent
    words it is the usual one, log(together / expected). Words that are too rare to be expected
    together have about 0 if they don't come together, and not minus infinity.

    Args:
        together: places (sentences, or pairs in either order) with both words.
        one: sentences with the one.
        other: sentences with the other.
        sentences: all of them.
    """
    expected = one.astype(np.float64) * other / sentences
    return np.log((together + DOUBT) / (expected + DOUBT))


def score(count: Numbers, total: Numbers, other_total: Numbers) -> Figures:
    """Return the recommended score of a pair of phrases, at most 0; higher is better.

    The mean of the logarithms of both probabilities, with the doubt added to each total:
    log(count / sqrt((total + 20) (other_total + 20))).
    """
    totals = np.sqrt((total + SCORE_DOUBT) * (other_total + SCORE_DOUBT))
    return np.log(count / totals)
