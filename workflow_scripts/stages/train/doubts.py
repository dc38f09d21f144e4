"""When the figures of a model say that no usable paraphrases can come of it.

The limits are far from what usable models have: docs/train.md, "Is a model good enough?".
"""

import math
from typing import Any

POOR_BLEU = 10.0  # on the test set
POOR_PERPLEXITY = 40.0  # of the validation data, or of the test set, per target piece
# With a perplexity below this a low BLEU tells of the test set, and not of the model.
GOOD_PERPLEXITY = 10.0
ADVICE = (
    "paraphrases by such models are of no use: captions and the like take some 30,000 pairs of "
    "bitext, open text takes millions; or take other, finished models (docs/train.md)"
)


def doubts(role: str, metrics: dict[str, Any]) -> list[str]:
    """Return what is hopeless about a model, each as the end of a sentence; none if nothing is.

    Args:
        role: of the model. Those of the filter of the bitext are never doubted: they only have to
            tell good pairs from bad ones.
        metrics: its metrics.json.
    """
    if role.startswith("filter_"):
        return []
    bleu = metrics.get("bleu")
    # A finished model has none of the validation data.
    measured = [metrics.get(f"{data}_perplexity") for data in ("validation", "test")]
    perplexity = next((figure for figure in measured if figure is not None), math.inf)
    doubted = []
    if bleu and bleu["score"] < POOR_BLEU:
        text = f"the {role} model has BLEU {bleu['score']:.2f} on the test set (poor: under 10)"
        if perplexity < GOOD_PERPLEXITY:
            text += (
                f", though a good perplexity ({perplexity:.1f}): is the test set of the same text? "
                "BLEU counts words, and misleads in languages without blanks"
            )
        doubted.append(text)
    if POOR_PERPLEXITY < perplexity < math.inf:
        doubted.append(
            f"the {role} model has a perplexity of {perplexity:.1f} per piece (poor: over 40)"
        )
    return doubted
