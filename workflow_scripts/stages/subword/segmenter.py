"""The sub-word model of a run's side, and its segmentations drawn at random."""

from pathlib import Path

import numpy as np

from workflow_scripts.core.text.subword_model import SubwordModel

Segmenter = SubwordModel


def segmenter_path(folder: Path, side: str) -> Path:
    """Return the sub-word model of a side ("source" or "reference") in a model folder.

    Whoever reads it verifies it first: `verify_file(path, "model")`.
    """
    return folder / f"{side}.model"


def sample_segmentations(
    segmenter: Segmenter,
    text: str,
    count: int,
    nbest: int,
    alpha: float,
    generator: np.random.Generator,
) -> list[list[str]]:
    """Draw `count` segmentations of `text`, with replacement, from its `nbest` best ones.

    The probability of a segmentation is proportional to its model probability to the power of
    `alpha`: 0 is uniform, 1 the model's own (Kudo 2018, subword regularisation, section 3.2).
    """
    candidates = segmenter.nbest(text, nbest)
    logits = alpha * np.array([logprob for _, logprob in candidates])
    weights = np.exp(logits - logits.max())
    chosen = generator.choice(len(candidates), size=count, p=weights / weights.sum())
    return [candidates[index][0] for index in chosen]
