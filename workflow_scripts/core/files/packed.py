"""Reading of gzip, bzip2, xz and Zstandard files: the whole file, or an error.

A packed file may hold several streams, one after the other: `cat a.xz b.xz` and parallel packers
make such files. Python's own readers take an error at the start of a later stream for the end of
the file, and the rest is lost without a message. Here all bytes must belong to a whole stream or to
padding that the format allows. Anything else is an error that says where it is.

Padding: xz allows zeros in groups of four bytes between and after streams. `gzip` ignores zeros
after a stream, as tapes leave them there. Bzip2 and Zstandard have no padding.
"""

import bz2
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Protocol

import zstandard

# Bytes read, and bytes unpacked, at once.
_CHUNK_BYTES = 1 << 18
_BUFFER_BYTES = 1 << 20
# What `zstd --long=31` makes, the widest there is.
_WIDEST_WINDOW = 1 << 31
_TOO_WIDE = "its window is wider than any that zstd makes"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_HEADER_START = 5
_ZSTD_RLE = 1
_MAGIC = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\x00": ".xz",
    _ZSTD_MAGIC: ".zst",
}
_XZ_PADDING = 4


class PackedError(Exception):
    """A packed file is damaged, cut off or followed by something else; the message says where."""


class Readable(Protocol):
    """A file that can be read only from front to back, like a member of an archive."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes, none at the end."""


class _Source:
    """The packed bytes; `place` is the number of the next byte."""

    def __init__(self, raw: Readable):
        self._raw = raw
        self._ahead = b""
        self.place = 0

    def some(self) -> bytes:
        """Return some bytes, none at the end."""
        data = self._ahead or self._raw.read(_CHUNK_BYTES)
        self._ahead = b""
        self.place += len(data)
        return data

    def back(self, data: bytes) -> None:
        """Take back the last bytes of those that `some` returned last."""
        self._ahead = data
        self.place -= len(data)

    def at_most(self, count: int) -> bytes:
        """Return `count` bytes, or fewer if the file ends."""
        parts = []
        while count and (data := self.some()):
            parts.append(data[:count])
            self.back(data[count:])
            count -= len(parts[-1])
        return b"".join(parts)

    def exactly(self, count: int) -> bytes:
        """Return `count` bytes.

        Raises:
            PackedError: the file ends too early.
        """
        data = self.at_most(count)
        if len(data) < count:
            raise PackedError("it ends too early")
        return data

    def zeros(self) -> int:
        """Pass over zeros and return how many there were."""
        before = self.place
        while data := self.some():
            if rest := data.lstrip(b"\0"):
                self.back(rest)
                break
        return self.place - before


class _Gzip:
    """A gzip member with the interface of Python's other decompressors."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)

    @property
    def eof(self) -> bool:
        return self._member.eof

    @property
    def needs_input(self) -> bool:
        return not self._member.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._member.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._member.decompress(self._member.unconsumed_tail + data, max_length)


# A decompressor of one stream, and the padding after it: None, or zeros in groups of this size.
_STREAMS: dict[str, tuple[Callable[[], Any], int | None]] = {
    ".gz": (_Gzip, 1),
    ".bz2": (bz2.BZ2Decompressor, None),
    ".xz": (lambda: lzma.LZMADecompressor(format=lzma.FORMAT_XZ), _XZ_PADDING),
}
SUFFIXES = frozenset({*_STREAMS, ".zst"})


def suffix_of(start: bytes) -> str | None:
    """Return the suffix of packed files that begin with these bytes; None for other files."""
    return next((suffix for magic, suffix in _MAGIC.items() if start.startswith(magic)), None)


def plain(raw: Readable) -> io.BufferedReader:
    """Return the content of a file that is not packed."""
    return io.BufferedReader(_Blocks(iter(partial(raw.read, _CHUNK_BYTES), b"")), _BUFFER_BYTES)


def unpacked(raw: Readable, suffix: str) -> io.BufferedReader:
    """Return the content of a packed file; several streams or frames are one.

    Memory holds some 2 MB and the window that an xz or Zstandard file needs: 8 MB by default, up to
    2 GB for a file of `zstd --long=31`.

    Args:
        raw: the packed bytes, from their beginning.
        suffix: of `SUFFIXES`.

    Raises:
        PackedError: (while it is read) it does not consist of whole streams.
        MemoryError: (while it is read) there is no memory for the window.
    """
    source = _Source(raw)
    blocks = _zstd(source) if suffix == ".zst" else _streams(source, *_STREAMS[suffix])
    return io.BufferedReader(_Blocks(blocks), _BUFFER_BYTES)


class _Blocks(io.RawIOBase):
    """The blocks of an iterator as one stream."""

    def __init__(self, blocks: Iterator[bytes]):
        self._blocks = blocks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rest = memoryview(block)
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def _streams(source: _Source, new: Callable[[], Any], padding: int | None) -> Iterator[bytes]:
    """Yield the content of all streams, in parts of bounded size."""
    data = source.some()
    if not data:
        raise PackedError("it is empty, without even a packed file's header")
    source.back(data)
    while True:
        start = source.place
        try:
            yield from _stream(source, new())
        except PackedError as error:
            raise PackedError(f"{error}, in the stream from byte {start}") from error
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            where = f"between the bytes {start} and {source.place}"
            raise PackedError(f"{error}, {where}") from error
        if padding and (zeros := source.zeros()) % padding:
            raise PackedError(f"{zeros} zeros before byte {source.place} are no padding")
        data = source.some()
        if not data:
            return
        source.back(data)


def _stream(source: _Source, stream: Any) -> Iterator[bytes]:
    while not stream.eof:
        data = b""
        if stream.needs_input and not (data := source.some()):
            raise PackedError("it ends too early")
        if block := stream.decompress(data, _CHUNK_BYTES):
            yield block
    source.back(stream.unused_data)


def _zstd(source: _Source) -> Iterator[bytes]:
    """Yield the content of all frames.

    Each block is unpacked alone: a few bytes can stand for 128 KB, and the library would unpack all
    given blocks at once. This also shows where a frame ends, and that it does end.
    """
    start = 0
    while magic := source.at_most(len(_ZSTD_MAGIC)):
        try:
            if magic[1:] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5:
                _skip(source, int.from_bytes(source.exactly(4), "little"))
            elif magic == _ZSTD_MAGIC:
                yield from _frame(source)
            else:
                raise PackedError("no Zstandard frame begins there")
        except (PackedError, zstandard.ZstdError) as error:
            if "memory" in str(error).lower():
                raise MemoryError from error
            where = f"in the frame from byte {start}, before byte {source.place}"
            raise PackedError(f"{error}, {where}") from error
        start = source.place
    if not start:
        raise PackedError("it is empty, without even a packed file's header")


def _skip(source: _Source, count: int) -> None:
    while count:
        count -= len(source.exactly(min(count, _CHUNK_BYTES)))


def _frame(source: _Source) -> Iterator[bytes]:
    """Yield the blocks of a frame whose magic number was read (RFC 8878, section 3.1.1)."""
    head = _ZSTD_MAGIC + source.exactly(_ZSTD_HEADER_START - len(_ZSTD_MAGIC))
    head += source.exactly(zstandard.frame_header_size(head) - len(head))
    try:
        parameters = zstandard.get_frame_parameters(head)
    except zstandard.ZstdError as error:  # which speaks of memory, though it takes none
        if "memory" not in str(error).lower():
            raise
        raise PackedError(_TOO_WIDE) from error
    if parameters.dict_id:
        raise PackedError("it was packed with a dictionary, which can't be had")
    if parameters.window_size > _WIDEST_WINDOW:
        raise PackedError(_TOO_WIDE)
    frame = zstandard.ZstdDecompressor(max_window_size=_WIDEST_WINDOW).decompressobj()
    yield frame.decompress(head)
    last, done = False, 0
    while not last:
        block = source.exactly(3)
        number = int.from_bytes(block, "little")
        last, kind, size = bool(number & 1), number >> 1 & 3, number >> 3
        content = frame.decompress(block + source.exactly(1 if kind == _ZSTD_RLE else size))
        done += len(content)
        yield content
    # The library looks at this where it unpacks a frame at once only.
    if parameters.content_size not in (done, zstandard.CONTENTSIZE_UNKNOWN):
        raise PackedError(f"it has {done} bytes, and says {parameters.content_size}")
    if parameters.has_checksum:
        yield frame.decompress(source.exactly(4))
    if not frame.eof:
        raise PackedError("its frame is not complete")
