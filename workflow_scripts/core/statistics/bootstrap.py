"""Bootstrap intervals of figures that are computed from sums over references, in flat memory."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.seeding import generator
from workflow_scripts.core.statistics.rounding import DECIMALS

# Up to this many references, each one is a block: the ordinary bootstrap. With more, a block has
# several and is drawn whole. References are independent, so the variance of the sums is the same.
BLOCKS = 10_000
# Rows of one matrix product: bounds memory at 64 x BLOCKS weights.
CHUNK = 64


def resampled(
    blocks: NDArray[np.int64] | NDArray[np.float64], samples: int, seed: int
) -> Iterator[NDArray[np.float64]]:
    """Yield the sums of `samples` bootstrap samples of the blocks, chunk by chunk.

    Args:
        blocks: shape (blocks, columns), the sums of each block.
        samples: bootstrap samples to draw.
        seed: of the draws.

    Yields:
        Shape (up to 64, columns).
    """
    random = generator(seed, "bootstrap")
    count = len(blocks)
    for start in range(0, samples, CHUNK):
        rows = min(CHUNK, samples - start)
        drawn = random.integers(count, size=(rows, count)) + count * np.arange(rows)[:, None]
        weights = np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count)
        yield weights.astype(np.float64) @ blocks


def interval(values: NDArray[np.float64]) -> dict[str, float]:
    """Return the 95 % percentile interval of bootstrap `values`."""
    low, high = np.quantile(values, (0.025, 0.975))
    return {"low": round(float(low), DECIMALS), "high": round(float(high), DECIMALS)}


def rank_intervals(
    blocks: NDArray[np.int64],
    figures: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    samples: int,
    seed: int,
) -> tuple[list[dict[str, float]], dict[str, float]]:
    """Return the intervals of a figure: of each rank, and of the last rank minus the first.

    Args:
        blocks: shape (blocks, ...), what is summed of each block, at least one.
        figures: turns sums, shape (samples, ...), into figures, shape (samples, ranks).
        samples: bootstrap samples to draw.
        seed: of the draws.
    """
    drawn = resampled(blocks.reshape(len(blocks), -1), samples, seed)
    values = np.concatenate([figures(sums.reshape(-1, *blocks.shape[1:])) for sums in drawn])
    by_rank = [interval(values[:, rank]) for rank in range(values.shape[1])]
    return by_rank, interval(values[:, -1] - values[:, 0])


def means(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of each rank, for `rank_intervals`.

    Args:
        sums: shape (samples, 1 + ranks): first the number of references, then the sum of the
            figure at each rank.

    Returns:
        Shape (samples, ranks).
    """
    return sums[:, 1:] / sums[:, :1]
