"""The negative of each sentence: the most similar one of the mega-batch that may be one.

(ParaNMT, section 4.) Never the sentence itself, its partner or a copy of either, nor another
paraphrase of the same reference.
"""

from typing import NamedTuple

import torch
from torch import Tensor

# Rows of the matrix of similarities that exist at once.
_BLOCK = 1024
NONE = -1


class Keys(NamedTuple):
    """The keys of each sentence, of its partner and of their reference, shape (n,) each.

    Sentences with the same key have the same letters and digits.
    """

    own: Tensor
    partner: Tensor
    reference: Tensor


def forbidden(keys: Keys, rows: slice) -> Tensor:
    """Return whether sentence j may not be a negative of sentence i, shape (rows, n)."""
    own, partner, reference = (key[rows].unsqueeze(1) for key in keys)
    return (own == keys.own) | (partner == keys.own) | (reference == keys.reference)


def hardest(vectors: Tensor, keys: Keys) -> Tensor:
    """Return the index of the negative of each sentence, shape (n,); -1 where there is none.

    Args:
        vectors: of length 1, shape (n, size).
        keys: of the sentences.
    """
    count = len(vectors)
    chosen = torch.empty(count, dtype=torch.long, device=vectors.device)
    for start in range(0, count, _BLOCK):
        rows = slice(start, min(start + _BLOCK, count))
        similarity = vectors[rows] @ vectors.T
        similarity.masked_fill_(forbidden(keys, rows), -torch.inf)
        best, index = similarity.max(dim=1)
        chosen[rows] = torch.where(best == -torch.inf, NONE, index)
    return chosen
