"""Vectors of positions that are computed, not trained: sines in the first half, cosines behind."""

import torch
from torch import Tensor


def sinusoids(count: int, size: int, *, step: float) -> Tensor:
    """Return vectors [count, size] of the positions 0..count-1.

    The sines' frequencies are 10000 ** (-j / step), j from 0; so are the cosines'. Marian has
    `step` size / 2 - 1, Hugging Face size / 2.
    """
    half = size // 2
    frequencies = 10000.0 ** (-torch.arange(half, dtype=torch.float64) / step)
    angles = torch.arange(count, dtype=torch.float64)[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=1).float()
