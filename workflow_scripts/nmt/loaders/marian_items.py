"""The items of a Marian model file, binary or .npz: its parameters, and the text of its options.

Marian's binary format, version 1: version and number of items; a header of four numbers for each
item; names; shapes; padding; data. All integers are little-endian, the data of each item is padded.
"""

import io
import math
import struct
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.loaders.binary_reader import BinaryReader

OPTIONS = "special:model.yml"
_VERSION = 1
_INT8, _FLOAT16, _FLOAT32, _INTGEMM8 = 0x0101, 0x0402, 0x0404, 0x4101
_PLAIN = {_INT8: np.int8, _FLOAT16: np.float16, _FLOAT32: np.float32}
_OTHER_TYPES = {0x4102: "intgemm16", 0x0408: "float64"}
# Multipliers of activations, which computing in floating point does not need.
_ALPHAS = "_QuantMultA"
# An option takes some 30 bytes.
_LONGEST_OPTIONS = 1_000_000
_MOST_DIMENSIONS = 8


class Items(NamedTuple):
    """`tensors`: parameters by name, in their shapes [in, out]; `options`: the text of the YAML."""

    tensors: dict[str, Tensor]
    options: str


class _Header(NamedTuple):
    name: str
    type: int
    shape: tuple[int, ...]
    length: int


def read_binary(path: Path) -> Items:
    """Return the items of a binary file, int8 ones as the numbers that they stand for.

    Raises:
        InputError: it is damaged, or of another version, or holds types that are not supported; the
            message names the place in the file.
    """
    reader = BinaryReader(path, memoryview(_content(path)), "Marian")
    headers = _headers(reader)
    tensors, options = {}, None
    for header in headers:
        start = reader.offset
        data = reader.take(header.length, f"the data of {header.name!r}")
        if header.name == OPTIONS:
            options = _text(path, start, data)
        elif not header.name.endswith(_ALPHAS):
            tensors[header.name] = _tensor(path, start, header, data)
    reader.check_end()
    return _complete(path, tensors, options)


def as_npz(tensors: dict[str, Tensor], options: str) -> bytes:
    """Return the content of an .npz file of these items."""
    buffer = io.BytesIO()
    text = np.frombuffer(options.encode() + b"\0", np.int8)
    arrays = {name: tensor.contiguous().numpy() for name, tensor in tensors.items()}
    np.savez(buffer, **arrays, **{OPTIONS: text})
    return buffer.getvalue()


def read_npz(path: Path) -> Items:
    """Return the items of an .npz file.

    Raises:
        InputError: it is damaged, or packed, or holds types that are not supported.
    """
    tensors, options = {}, None
    content = _content(path)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.infolist():
                name = member.filename.removesuffix(".npy")
                if member.compress_type != zipfile.ZIP_STORED:
                    raise InputError(
                        f"{path}: {name!r} is compressed, which Marian does not do; write the file "
                        "with numpy.savez"
                    )
                if member.file_size > len(content):
                    raise InputError(f"{path}: {name!r} is longer than the file; it is damaged")
                array = _array(path, name, archive.read(member))
                if name == OPTIONS:
                    options = _text(path, member.header_offset, array.tobytes())
                elif array.dtype not in (np.float16, np.float32):
                    raise InputError(
                        f"{path}: parameter {name!r} is of type {array.dtype}; supported are "
                        "float32 and float16"
                    )
                else:
                    tensors[name] = torch.from_numpy(array.astype(np.float32))
    except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise InputError(f"{path}: cannot read the parameters: {error}") from error
    return _complete(path, tensors, options)


def _headers(reader: BinaryReader) -> list[_Header]:
    """Read all that stands before the data."""
    version, count = reader.numbers(2, "the beginning")
    if version != _VERSION:
        reader.offset = 0
        raise reader.error(f"version {version}, supported is {_VERSION}")
    columns = [reader.numbers(4, f"the header of item {number}") for number in range(count)]
    names = []
    for number, (length, *_) in enumerate(columns):
        raw_name = bytes(reader.take(length, f"the name of item {number}"))
        if not raw_name.endswith(b"\0") or not raw_name.isascii():
            raise reader.error(f"the name of item {number} is {raw_name[:40]!r}")
        names.append(raw_name[:-1].decode("ascii"))
    if len(set(names)) < len(names):
        raise reader.error("two items have the same name")
    headers = []
    for name, (_, kind, dimensions, length) in zip(names, columns, strict=True):
        if dimensions > _MOST_DIMENSIONS:
            raise reader.error(f"{name!r} has {dimensions} dimensions")
        shape = reader.numbers(dimensions, f"the shape of {name!r}", "i")
        if any(size < 0 for size in shape):
            raise reader.error(f"{name!r} has the shape {list(shape)}")
        headers.append(_Header(name, kind, shape, length))
    (padding,) = reader.numbers(1, "the length of the padding")
    reader.take(padding, "the padding")
    return headers


def _tensor(path: Path, start: int, header: _Header, data: memoryview) -> Tensor:
    """Return the numbers of an item; `start` is the place of its data in the file."""
    name, kind, shape, _ = header
    size = math.prod(shape)
    if kind not in (_FLOAT16, _FLOAT32, _INTGEMM8):
        other = _OTHER_TYPES.get(kind, "packed" if kind & 0x0800 else "unknown")
        raise InputError(
            f"{path}: parameter {name!r} is of type {other} ({kind:#06x}); supported are float32, "
            "float16 and intgemm8"
        )
    needed = size + 4 if kind == _INTGEMM8 else size * np.dtype(_PLAIN[kind]).itemsize
    if needed > len(data):
        raise InputError(
            f"{path}, byte {start}: parameter {name!r} of shape {list(shape)} needs {needed} "
            f"bytes, it has {len(data)}; the file is damaged"
        )
    if kind != _INTGEMM8:
        array = np.frombuffer(data, _PLAIN[kind], size).astype(np.float32)
        return torch.from_numpy(array).view(shape)
    (multiplier,) = struct.unpack_from("<f", data, size)
    if not (math.isfinite(multiplier) and multiplier > 0):
        raise InputError(
            f"{path}, byte {start + size}: the multiplier of {name!r} is {multiplier}; "
            "the file is damaged"
        )
    numbers = torch.from_numpy(np.frombuffer(data, np.int8, size).astype(np.float32)) / multiplier
    # Embeddings are stored as they are, other matrices transposed.
    if "Wemb" in name or len(shape) != 2:
        return numbers.view(shape)
    return numbers.view(shape[1], shape[0]).T


def _array(path: Path, name: str, member: bytes) -> np.ndarray[Any, Any]:
    """Return the array of a member of an .npz file, without more memory than the member has."""
    stream = io.BytesIO(member)
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise InputError(f"{path}: {name!r} has version {version} of numpy's format, not 1.0")
    shape, fortran, kind = np.lib.format.read_array_header_1_0(stream)
    left = len(member) - stream.tell()
    if fortran or kind.hasobject or math.prod(shape) * kind.itemsize != left:
        raise InputError(
            f"{path}: {name!r} of type {kind} and shape {list(shape)} does not fill its {left} "
            "bytes in C's order; the file is damaged"
        )
    return np.frombuffer(member, kind, offset=stream.tell()).reshape(shape)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot read the parameters: {error}") from error


def _text(path: Path, start: int, data: memoryview | bytes) -> str:
    """Return the text of the options, which a NUL ends."""
    if len(data) > _LONGEST_OPTIONS:
        raise InputError(
            f"{path}, byte {start}: the options take {len(data):,} bytes, more than "
            f"{_LONGEST_OPTIONS:,}; the file is damaged"
        )
    try:
        return bytes(data).partition(b"\0")[0].decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, byte {start}: the options are no UTF-8: {error}") from None


def _complete(path: Path, tensors: dict[str, Tensor], options: str | None) -> Items:
    if options is None:
        raise InputError(
            f"{path}: no {OPTIONS}: the options of the model are missing; is it a model of Marian, "
            "and not the state of its optimiser?"
        )
    return Items(tensors, options)
