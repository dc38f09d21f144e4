"""Histograms of the candidates' NLLs: flat memory, whatever the corpus."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from workflow_scripts.core.files.parquet import read_batches
from workflow_scripts.core.files.rows import ScoredRow

BINS_PER_NAT = 10
BINS = 100
SCORES = {"forward": "forward_nll", "backward": "backward_nll", "sum": "sum"}


def _zeros() -> dict[str, NDArray[np.int64]]:
    return {score: np.zeros(BINS + 1, dtype=np.int64) for score in SCORES}


@dataclass
class ScoreHistogram:
    """Counts of distinct candidates by NLL: 100 bins 0.1 wide from 0, and one for higher NLLs.

    Attributes:
        candidates: distinct candidates seen.
        pruned: those without a backward score.
        bins: by score, shape (101,).
    """

    candidates: int = 0
    pruned: int = 0
    bins: dict[str, NDArray[np.int64]] = field(default_factory=_zeros)

    def add(self, candidates: pa.StructArray) -> None:
        """Count candidates as the `scored` schema has them."""
        self.candidates += len(candidates)
        for score, column in SCORES.items():
            values = candidates.field(column).drop_null().to_numpy(zero_copy_only=False)
            index = np.clip(values.astype(np.float64) * BINS_PER_NAT, 0, BINS).astype(np.int64)
            self.bins[score] += np.bincount(index, minlength=BINS + 1)
        self.pruned += candidates.field("backward_nll").null_count

    def merge(self, other: "ScoreHistogram") -> None:
        """Add the counts of other candidates."""
        self.candidates += other.candidates
        self.pruned += other.pruned
        for score, bins in other.bins.items():
            self.bins[score] += bins

    def result(self) -> dict[str, Any]:
        """Return the counts for measures.json."""
        bins = {score: counts.tolist() for score, counts in self.bins.items()}
        width = 1 / BINS_PER_NAT
        return {"candidates": self.candidates, "pruned": self.pruned, "width": width, **bins}


def scored_histograms(path: Path, groups: dict[str, set[str] | None]) -> dict[str, ScoreHistogram]:
    """Return the histogram of each group of corpora in one scored shard; None means all."""
    histograms = {group: ScoreHistogram() for group in groups}
    for batch in read_batches(path, ScoredRow, columns=["corpus", "candidates"]):
        for group, corpora in groups.items():
            rows = batch
            if corpora is not None:
                mask = pc.is_in(
                    batch.column("corpus"), value_set=pa.array(sorted(corpora), pa.string())
                )
                rows = batch.filter(mask)
            histograms[group].add(rows.column("candidates").flatten())
    return histograms
