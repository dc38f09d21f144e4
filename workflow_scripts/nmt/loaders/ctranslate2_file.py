"""The content of a model file of CTranslate2: its variables, and names that stand for others.

The binary format, versions 5 and 6: the version; the name of the specification and its revision;
variables, each with name, shape, type, length and data; aliases. Nothing is aligned; a string has
its length before it, and a NUL at its end. Source: `_serialize` in ctranslate2/specs/model_spec.py.
"""

import math
import mmap
import re
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.loaders.binary_reader import BinaryReader

VERSIONS = (5, 6)
_TYPES = (torch.float32, torch.int8, torch.int16, torch.int32, torch.float16, torch.bfloat16)
_WEIGHT = re.compile(r"(weight|bias|gamma|beta|encodings)$")
_SCALE = "_scale"
_MOST = 128  # of what a whole number of 8 bits can be
_MOST_DIMENSIONS = 8


class Variable(NamedTuple):
    """`type`: one of _TYPES; `data`: the numbers of `shape`, in C's order."""

    shape: tuple[int, ...]
    type: torch.dtype
    data: memoryview

    def tensor(self) -> Tensor:
        """Return the numbers, which stay in the file."""
        if not self.data:
            return torch.empty(self.shape, dtype=self.type)
        return torch.frombuffer(self.data, dtype=self.type).view(self.shape)


class Content(NamedTuple):
    """What a file holds; `aliases`: names of variables by further names of these."""

    path: Path
    version: int
    spec: str
    revision: int
    variables: dict[str, Variable]
    aliases: dict[str, str]

    def find(self, name: str) -> Variable | None:
        """Return a variable by its name or an alias, None if there is none."""
        return self.variables.get(self.aliases.get(name, name))

    def scalar(self, name: str, default: float) -> float:
        """Return a single number.

        Raises:
            InputError: there are several, or it is not finite.
        """
        found = self.find(name)
        if found is None:
            return default
        numbers = found.tensor()
        if numbers.numel() != 1 or not numbers.isfinite():
            raise InputError(f"{self.path}: {name} must be one finite number")
        return numbers.item()

    def text(self, name: str, default: str) -> str:
        """Return a text, which is kept as bytes."""
        found = self.find(name)
        return default if found is None else bytes(found.data).decode("utf-8", "replace")

    def stored(self) -> dict[str, Tensor]:
        """Return the weights as they are in the file, without their scales and single numbers."""
        return {
            name: variable.tensor()
            for name, variable in self.variables.items()
            if variable.shape
            and not name.endswith(_SCALE)
            and (variable.type.is_floating_point or _WEIGHT.search(name))
        }

    def weights(self) -> dict[str, Tensor]:
        """Return the weights as they are in the file, by all their names.

        A weight with several names is one tensor.

        Raises:
            InputError: a weight is of another type, or an 8-bit one has no scales that fit.
        """
        weights = self.stored()
        for name, weight in weights.items():
            if weight.dtype == torch.int8 and name.endswith("weight"):
                self.scales(name)
            elif not weight.is_floating_point():
                raise InputError(
                    f"{self.path}: {name} is of type {_name_of(weight.dtype)}; supported are "
                    "float32, float16, bfloat16, of matrices int8: convert the model with these"
                )
        return weights | {
            alias: weights[name] for alias, name in self.aliases.items() if name in weights
        }

    def scales(self, name: str) -> Tensor:
        """Return what the rows of an 8-bit weight are divided by [R, 1, ...].

        Raises:
            InputError: there are none, or they are no scales of these rows.
        """
        weight, scale = self.find(name), self.find(name + _SCALE)
        assert weight is not None
        if scale is None:
            raise InputError(f"{self.path}: no variable {name + _SCALE}, which 8-bit weights need")
        if scale.shape != weight.shape[:1] or not scale.type.is_floating_point:
            raise InputError(
                f"{self.path}: {name + _SCALE} is {_name_of(scale.type)} {list(scale.shape)}; "
                f"{name} of shape {list(weight.shape)} needs one floating-point scale for each row"
            )
        scales = scale.tensor().float()
        if not bool((scales.isfinite() & (scales > 0) & (_MOST / scales).isfinite()).all()):
            raise InputError(f"{self.path}: {name + _SCALE} holds numbers that are no scales")
        return scales.view(-1, *[1] * (len(weight.shape) - 1))

    def scaled(self, name: str, weight: Tensor) -> Tensor:
        """Return what a weight stands for, in fp32: 8-bit rows are divided by their scales."""
        number = weight.float()
        return number.div_(self.scales(name)) if weight.dtype == torch.int8 else number


def read(path: Path) -> Content:
    """Return what a file holds; its numbers are read when they are asked for.

    Raises:
        InputError: it is damaged, or of another version; the message names the place in the file.
    """
    try:
        with path.open("rb") as file:
            # Torch wants what could be written; nothing is.
            mapped: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot read the parameters: {error}") from error
    reader = BinaryReader(path, memoryview(mapped), "CTranslate2")
    version = reader.number("the version", "I")
    if version not in VERSIONS:
        raise InputError(
            f"{path}: binary version {version}, supported are {' and '.join(map(str, VERSIONS))}; "
            "convert the model with a newer CTranslate2"
        )
    spec = _string(reader, "the name of the specification")
    revision = reader.number("the revision", "I")
    variables: dict[str, Variable] = {}
    for number in range(reader.number("the number of variables", "I")):
        name = _name(reader, f"the name of variable {number}")
        if name in variables:
            raise reader.error(f"two variables have the name {name}")
        variables[name] = _variable(reader, name)
    aliases: dict[str, str] = {}
    for number in range(reader.number("the number of aliases", "I")):
        alias = _name(reader, f"the name of alias {number}")
        name = _name(reader, f"the variable of {alias}")
        if name not in variables:
            raise reader.error(f"{alias} stands for {name}, which is not there")
        # An alias stands for the scale too.
        aliases |= {alias: name, alias + _SCALE: name + _SCALE}
    reader.check_end()
    return Content(path, version, spec, revision, variables, aliases)


def _name_of(kind: torch.dtype) -> str:
    return str(kind).removeprefix("torch.")


def _name(reader: BinaryReader, what: str) -> str:
    """Read a name; older files have another one for the table of the source."""
    return _string(reader, what).replace("encoder/embeddings/", "encoder/embeddings_0/")


def _string(reader: BinaryReader, what: str) -> str:
    raw = bytes(reader.take(reader.number(what, "H"), what))
    if not raw.endswith(b"\0") or not raw.isascii():
        raise reader.error(f"{what} is {raw[:40]!r}")
    return raw[:-1].decode("ascii")


def _variable(reader: BinaryReader, name: str) -> Variable:
    dimensions = reader.number(f"the shape of {name}", "B")
    if dimensions > _MOST_DIMENSIONS:
        raise reader.error(f"{name} has {dimensions} dimensions")
    shape = reader.numbers(dimensions, f"the shape of {name}", "I")
    kind = reader.number(f"the type of {name}", "B")
    if kind >= len(_TYPES):
        raise reader.error(f"{name} is of the unknown type {kind}")
    length = reader.number(f"the length of {name}", "I")
    size = _TYPES[kind].itemsize
    if length != math.prod(shape) * size:
        raise reader.error(
            f"{name} of shape {list(shape)} needs {math.prod(shape) * size} bytes, it has {length}"
        )
    return Variable(shape, _TYPES[kind], reader.take(length, f"the data of {name}"))
