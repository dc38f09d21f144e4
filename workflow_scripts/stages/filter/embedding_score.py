"""Compute the paraphrase score of every pair of a shard under an embedding of this pipeline.

PNMT scores its pairs so (3.1), with the means of finished word vectors (PARAGRAM-PHRASE). Here the
embedding is one of the run itself, trained on pairs that are not yet filtered.
"""

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from workflow_scripts.core.command import command
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.encoding.embedding import SentenceEmbeddings, load
from workflow_scripts.encoding.interface import RECORD
from workflow_scripts.stages.filter.paraphrase_score import cosines
from workflow_scripts.stages.filter.values import write_values

# Pairs whose sentences are encoded together: many of like length, where that saves padding.
BATCH = 4096


def scores(
    model: SentenceEmbeddings, references: list[str], paraphrases: list[str]
) -> NDArray[np.float64]:
    """Return the cosine of each pair, shape (pairs,); NaN where a side has no known token.

    Each distinct sentence is encoded once: a reference stands beside all its paraphrases.
    """
    places: dict[str, int] = {}
    rows = [places.setdefault(text, len(places)) for text in (*references, *paraphrases)]
    vectors = model.encode(list(places)).astype(np.float64)
    return cosines(vectors[rows[: len(references)]], vectors[rows[len(references) :]])


def write_scores(pairs: Path, model: Path, output: Path) -> None:
    """Compute the paraphrase score of every pair of a shard under an embedding.

    Args:
        pairs: the `pair_columns` shard.
        model: folder of the embedding, which is verified.
        output: the `pair_values` shard; its record stands beside it.
    """
    torch.set_num_threads(1)
    verify(model / RECORD)
    embeddings = load(model)
    write_values(pairs, output, lambda *sides: scores(embeddings, *sides), "embedding", BATCH)


main = command(write_scores, __name__)
