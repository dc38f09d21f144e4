"""The training set as token ids in files, read through the page cache, so that memory stays flat.

Sentence 2i is the reference of pair i, sentence 2i + 1 its paraphrase.
"""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.text.normalisation import letters_and_digits
from workflow_scripts.encoding.tokens import Ragged, Tokeniser

# Pairs tokenised at once.
_CHUNK = 4096
Pair = tuple[str, str]
Integers = NDArray[np.int32] | NDArray[np.int64]


def key(sentence: str) -> int:
    """Return the same number, of 64 bits, for sentences with the same letters and digits."""
    digest = hashlib.blake2b(letters_and_digits(sentence).encode("utf-8"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def gather(
    ragged: tuple[Integers, Integers], starts: NDArray[np.int64], chosen: NDArray[np.int64]
) -> Ragged:
    """Return the tokens of some sentences.

    Args:
        ragged: ids and lengths of all sentences.
        starts: where each one's ids begin, shape (sentences,).
        chosen: indices of sentences.
    """
    ids, lengths = ragged
    wanted = lengths[chosen].astype(np.int64)
    places = np.repeat(starts[chosen] - (np.cumsum(wanted) - wanted), wanted)
    places += np.arange(len(places))
    return ids[places].astype(np.int64), wanted


class Tokens:
    """The tokens of all sentences, of one kind."""

    def __init__(self, ids: NDArray[np.int32], lengths: NDArray[np.int32]):
        self._ragged = (ids, lengths)
        self._starts = np.cumsum(lengths, dtype=np.int64) - lengths

    def of(self, sentences: NDArray[np.int64]) -> Ragged:
        """Return the tokens of some sentences."""
        return gather(self._ragged, self._starts, sentences)


class Prepared(NamedTuple):
    """A training set.

    Attributes:
        tokens: by kind.
        keys: of each sentence, shape (2 pairs,).
    """

    tokens: dict[str, Tokens]
    keys: NDArray[np.int64]

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return len(self.keys) // 2


def _chunks(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    iterator = iter(pairs)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk


def prepare(pairs: Iterable[Pair], tokenisers: dict[str, Tokeniser], folder: Path) -> int:
    """Write the tokens and keys of a training set into a folder.

    Returns:
        How many pairs are left out because a sentence has no token of some kind.
    """
    left_out = 0
    names = ["keys", *(f"{kind}.{part}" for kind in tokenisers for part in ("ids", "lengths"))]
    with ExitStack() as stack:
        files = {name: stack.enter_context((folder / name).open("wb")) for name in names}
        for chunk in _chunks(pairs):
            sentences = [sentence for pair in chunk for sentence in pair]
            ragged = {kind: tokeniser.ids(sentences) for kind, tokeniser in tokenisers.items()}
            whole = np.ones(len(chunk), dtype=bool)
            for _, lengths in ragged.values():
                whole &= lengths.reshape(-1, 2).min(axis=1) > 0
            left_out += len(chunk) - int(whole.sum())
            in_whole_pair = np.repeat(whole, 2)
            keys = [key(text) for text, good in zip(sentences, in_whole_pair, strict=True) if good]
            np.array(keys, dtype=np.int64).tofile(files["keys"])
            for kind, (ids, lengths) in ragged.items():
                ids[np.repeat(in_whole_pair, lengths)].astype(np.int32).tofile(files[f"{kind}.ids"])
                lengths[in_whole_pair].astype(np.int32).tofile(files[f"{kind}.lengths"])
    return left_out


def read_prepared(folder: Path, kinds: Iterable[str]) -> Prepared:
    """Return the training set that `prepare` wrote for these kinds of tokens."""
    tokens = {
        kind: Tokens(
            _mapped(folder / f"{kind}.ids", np.int32),
            np.fromfile(folder / f"{kind}.lengths", dtype=np.int32),
        )
        for kind in kinds
    }
    return Prepared(tokens, np.fromfile(folder / "keys", dtype=np.int64))


def _mapped(path: Path, dtype: type[np.int32]) -> NDArray[np.int32]:
    if not path.stat().st_size:  # can't be mapped
        return np.empty(0, dtype=dtype)
    return np.memmap(path, dtype=dtype, mode="r")
