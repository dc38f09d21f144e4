"""Which references several pair corpora have in common (ParaBank 2, 3.7).

Texts are compared by their letters and digits, as one corpus may be lower-cased and tokenised and
another one not. A text is held as a number of 64 bits.
"""

import hashlib
from collections.abc import Iterable, Iterator
from functools import reduce
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import shard_paths
from workflow_scripts.core.files.rows import PairColumnsRow
from workflow_scripts.core.files.shard_frame import Input
from workflow_scripts.core.text.normalisation import letters_and_digits

Keys = NDArray[np.uint64]


def keys_of(references: pa.Array) -> Keys:
    """Return the number of each text, shape (texts,): equal ones have equal letters and digits."""
    encoded = references.dictionary_encode()
    keys = np.fromiter(map(_key, encoded.dictionary.to_pylist()), np.uint64)
    return keys[encoded.indices.to_numpy()]


def _key(text: str) -> int:
    # Without letters and digits it is compared as it stands: "?!" is not "...".
    plain = letters_and_digits(text) or text
    return int.from_bytes(hashlib.blake2b(plain.encode("utf-8"), digest_size=8).digest(), "little")


def in_common(folders: dict[str, int]) -> Keys:
    """Return the keys of the references that all of some corpora have, in ascending order.

    Args:
        folders: with `pair_columns` shards, and how many each has.

    Raises:
        InputError: there is no such reference, or a file is damaged.
    """
    common = reduce(np.intersect1d, (_all_keys(*each) for each in folders.items()))
    if not len(common):
        raise InputError(f"{', '.join(folders)}: they have no reference in common (`shared`)")
    return common


def _all_keys(folder: str, shards: int) -> Keys:
    references = Input(shard_paths(Path(folder), shards), PairColumnsRow).batches(["reference"])
    return _distinct(keys_of(batch.column("reference")) for batch in references.items)


def _distinct(batches: Iterable[Keys]) -> Keys:
    distinct: Iterator[Keys] = map(np.unique, batches)
    return np.unique(np.concatenate([*distinct, np.empty(0, np.uint64)]))


def among(keys: Keys, known: Keys) -> NDArray[np.bool_]:
    """Return which of some keys stand among the known ones, which are in ascending order."""
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return known[places] == keys
