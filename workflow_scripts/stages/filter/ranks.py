"""The pair of one rank of each reference, or two of its paraphrases (ParaBank 2, 3.7)."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from workflow_scripts.stages.filter.pair_stream import Pairs


def whole_references(batches: Iterable[Pairs]) -> Iterator[Pairs]:
    """Yield the same pairs in batches; all pairs of a reference are in one of them."""
    held: Pairs | None = None
    for batch in batches:
        joined = batch if held is None else _joined(held, batch)
        ids = joined.texts.column("id")
        if not len(ids):
            continue
        cut = pc.index(ids, ids[-1]).as_py()
        if cut:
            yield _part(joined, slice(None, cut))
        held = _part(joined, slice(cut, None))
    if held is not None:
        yield held


def _joined(first: Pairs, second: Pairs) -> Pairs:
    columns = {
        name: np.concatenate([values, second.columns[name]])
        for name, values in first.columns.items()
    }
    return Pairs(columns, pa.concat_batches([first.texts, second.texts]))


def _part(pairs: Pairs, rows: slice) -> Pairs:
    start, stop, _ = rows.indices(len(pairs.texts))
    columns = {name: values[rows] for name, values in pairs.columns.items()}
    return Pairs(columns, pairs.texts.slice(start, stop - start))


def at_ranks(ids: pa.Array, rows: NDArray[np.int64], ranks: list[int]) -> NDArray[np.int64]:
    """Return which of some rows are at the wanted ranks of each reference.

    A rank is counted among `rows`. A shorter list gives its last row, as the paper's systems of
    lower ranks do.

    Args:
        ids: of the reference of each pair; all pairs of a reference stand together, best first.
        rows: that are left, in order.
        ranks: the wanted ones, from 1.

    Returns:
        Shape (references that have a row left, ranks).
    """
    numbers = ids.dictionary_encode().indices.to_numpy()[rows]
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    sizes = np.diff(starts, append=len(rows))
    return np.stack([rows[starts + np.minimum(rank, sizes) - 1] for rank in ranks], axis=1)
