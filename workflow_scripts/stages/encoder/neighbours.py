"""Nearest neighbours among the vectors of sentences, by cosine: exact, or by faiss.

Of many sentences an inverted file is asked (IVF; Johnson et al. 2019): each vector lies in the cell
of its nearest centre, and a query looks into a few cells. There it has a byte for each number of a
vector; what it finds is put in order by the vectors themselves, which stay in a file.
docs/encoder.md has the measurements behind the choice.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.seeding import generator

Vectors = NDArray[np.float32]
# Up to this many sentences are compared with all others.
EXACT = 20_000
# Cells for n sentences: this times the root of n. The centres are found on a sample.
_CELLS = 2.0
_SAMPLE_PER_CELL = 40
_ROUNDS = 10
# Queries, and vectors that are added, at once.
_CHUNK = 1024
_ADDED = 65536
# Numbers of vectors that are read at once to put in order what was found: 256 MB.
_GATHERED = 2**26
# An inverted file is asked for this many more than wanted: a byte for a number is coarse.
_SPARE = 8
NONE = -1


class Exact:
    """A search that compares with all vectors."""

    def __init__(self, vectors: Vectors):
        """Keep vectors of length 1, shape (sentences, size)."""
        self._vectors = vectors

    def nearest(self, queries: NDArray[np.int64], count: int) -> NDArray[np.int64]:
        """Return the sentences most like each query, in any order, shape (queries, count)."""
        nearest = np.empty((len(queries), count), np.int64)
        for start in range(0, len(queries), _CHUNK):
            part = slice(start, start + _CHUNK)
            likeness = self._vectors[queries[part]] @ self._vectors.T
            # With equal ones the lower number counts, however the sort is done.
            order = np.argsort(-likeness, axis=1, kind="stable")
            nearest[part] = order[:, :count]
        return nearest


class Inverted:
    """A search by an inverted file of faiss."""

    def __init__(self, vectors: Vectors, probes: int, seed: int, cells: int | None = None):
        """Build the file.

        Args:
            vectors: of length 1, shape (sentences, size); they may be in a mapped file.
            probes: cells that a query looks into.
            seed: of the sample and of the first centres.
            cells: how many; None: by the number of sentences.
        """
        import faiss

        self._vectors = vectors
        cells = cells or max(1, round(_CELLS * len(vectors) ** 0.5))
        size = vectors.shape[1]
        kind, metric = faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
        # Sums of threads would depend on their number: the centres are found by one.
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        self._centres = faiss.IndexFlatIP(size)
        self._index = faiss.IndexIVFScalarQuantizer(self._centres, size, cells, kind, metric)
        random = generator(seed, "encoder", "cells")
        self._index.cp.seed = int(random.integers(2**31))
        self._index.cp.niter = _ROUNDS
        wanted = min(len(vectors), _SAMPLE_PER_CELL * cells)
        sample = np.sort(random.permutation(len(vectors))[:wanted])
        self._index.train(np.ascontiguousarray(vectors[sample]))
        faiss.omp_set_num_threads(threads)
        for start in range(0, len(vectors), _ADDED):
            self._index.add(np.ascontiguousarray(vectors[start : start + _ADDED]))
        self._index.nprobe = min(probes, cells)

    def nearest(self, queries: NDArray[np.int64], count: int) -> NDArray[np.int64]:
        """Return as `Exact.nearest`; NONE where the cells hold too few."""
        wanted = min(count + _SPARE, len(self._vectors))
        nearest = np.empty((len(queries), wanted), np.int64)
        for start in range(0, len(queries), _CHUNK):
            part = slice(start, start + _CHUNK)
            asked = np.ascontiguousarray(self._vectors[queries[part]])
            nearest[part] = self._index.search(asked, wanted)[1]
        return nearest


def search(vectors: Vectors, settings: dict[str, Any], seed: int) -> Exact | Inverted:
    """Return the search that suits the number of vectors.

    Args:
        vectors: of length 1, shape (sentences, size).
        settings: `probes`.
        seed: of an inverted file.
    """
    if len(vectors) <= EXACT:
        return Exact(vectors)
    return Inverted(vectors, settings["probes"], seed)


def ranked(
    searched: Exact | Inverted, vectors: Vectors, queries: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], Vectors]:
    """Return the sentences most like each query, itself among them, and their cosines.

    Both have the shape (queries, at least count), the most alike first, of equal ones the lower
    number. Where there is none, the sentence is NONE and the cosine -inf.
    """
    nearest = searched.nearest(queries, min(count, len(vectors)))
    cosines = np.empty(nearest.shape, np.float32)
    step = min(_CHUNK, max(1, _GATHERED // (nearest.shape[1] * vectors.shape[1])))
    for start in range(0, len(queries), step):
        part = slice(start, start + step)
        asked, answers = vectors[queries[part]], vectors[nearest[part].clip(0)]
        cosines[part] = np.einsum("qs,qks->qk", asked, answers)
    cosines[nearest == NONE] = -np.inf
    order = np.lexsort((nearest, -cosines), axis=1)
    return np.take_along_axis(nearest, order, 1), np.take_along_axis(cosines, order, 1)
