"""Lexical shortlists: the pieces that an output of a source may hold, from Marian's lex*.bin.

The file: six numbers (a magic one, a checksum, how many of the most frequent pieces are always in,
how many pieces each source piece has at most, how many offsets and ids follow); offsets, from each
source piece to its ids; ids. All integers are little-endian. Ids are Marian's own.
"""

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from workflow_scripts.core.errors import InputError

Ids = npt.NDArray[np.int64]

_MAGIC = 0xF11A48D5013417F5
_HEADER = struct.Struct("<6Q")
# Marian fills a set up to a multiple of this.
_MULTIPLE = 8
# Marian's ids of </s> and <unk>, and those of the core for its first four.
_END, _UNKNOWN = 0, 1
_CORE = {_END: 3, _UNKNOWN: 1}
_MOVED = 2


class Shortlist:
    """The sets of pieces that the sources of one model allow.

    Args:
        first: the pieces 0..first-1 are in every set.
        offsets: [source pieces + 1], where the ids of each source piece begin and end.
        ids: target pieces.
        pieces: how many target pieces there are.
    """

    def __init__(self, first: int, offsets: Ids, ids: Ids, pieces: int):
        self._first = first
        self._offsets = offsets
        self._ids = ids
        self._pieces = pieces

    def allowed(self, source: Sequence[int]) -> Ids:
        """Return the target pieces that a source allows, each once, </s> and <unk> among them.

        Source and target pieces are the core's ids; the source's </s> is not given.
        """
        chosen = np.zeros(self._pieces, dtype=bool)
        chosen[: self._first] = True
        for piece in {_END, *map(_marians, source)}:
            chosen[self._ids[self._offsets[piece] : self._offsets[piece + 1]]] = True
        missing = -int(chosen.sum()) % _MULTIPLE
        chosen[np.flatnonzero(~chosen)[:missing]] = True
        allowed = np.flatnonzero(chosen) + _MOVED
        allowed[:_MOVED] = _CORE[_END], _CORE[_UNKNOWN]
        return allowed


def read_shortlist(path: Path, source_pieces: int, target_pieces: int) -> Shortlist:
    """Return the shortlist of a file for a model with these numbers of pieces, as Marian counts.

    Raises:
        InputError: the file is damaged, or belongs to a model of other vocabularies.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot read the shortlist: {error}") from error

    def fault(offset: int, why: str) -> InputError:
        return InputError(f"{path}, byte {offset}: {why}; the file is damaged or is no shortlist")

    if len(content) < _HEADER.size:
        raise fault(0, f"{len(content)} bytes, its head alone takes {_HEADER.size}")
    magic, _, first, _, offsets_count, ids_count = _HEADER.unpack_from(content)
    if magic != _MAGIC:
        raise fault(0, f"it begins with {magic:#x}, a shortlist with {_MAGIC:#x}")
    needed = _HEADER.size + 8 * offsets_count + 4 * ids_count
    if needed != len(content):
        raise fault(32, f"its head asks for {needed} bytes, it has {len(content)}")
    if offsets_count != source_pieces + 1:
        raise InputError(
            f"{path}: a shortlist for {offsets_count - 1} source pieces; the model has "
            f"{source_pieces}. Take the one that belongs to the model"
        )
    offsets = np.frombuffer(content, "<u8", offsets_count, _HEADER.size)
    ids = np.frombuffer(content, "<u4", ids_count, _HEADER.size + 8 * offsets_count)
    if (np.diff(offsets.astype(np.float64)) < 0).any() or offsets[-1] > ids_count:
        raise fault(_HEADER.size, f"offsets that do not rise from 0 to {ids_count}")
    if not _UNKNOWN < first <= target_pieces or (ids_count and int(ids.max()) >= target_pieces):
        raise InputError(
            f"{path}: a shortlist for more than {target_pieces} target pieces, or without the "
            "first two. Take the one that belongs to the model"
        )
    return Shortlist(first, offsets.astype(np.int64), ids.astype(np.int64), target_pieces)


def _marians(piece: int) -> int:
    """Return Marian's id of one of the core's ids; that of <unk> for one that Marian has not."""
    if piece < len(_CORE) + _MOVED:
        return {core: marians for marians, core in _CORE.items()}.get(piece, _UNKNOWN)
    return piece - _MOVED
