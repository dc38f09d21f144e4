"""The parameters of a model file: each is taken once, with the shape that the options ask for."""

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.statistics.numbers import require_finite


class Parameters:
    """The tensors of a model file, by their names.

    `scaled`: gives what the numbers of a name stand for, if the file may have 8-bit ones.
    """

    def __init__(
        self,
        path: Path,
        tensors: dict[str, Tensor],
        scaled: Callable[[str, Tensor], Tensor] | None = None,
    ):
        self._path = path
        self._tensors = tensors
        self._scaled = scaled

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def take(self, name: str, *shape: int) -> Tensor:
        """Return a parameter as fp32; see `table`."""
        tensor = self.table(name, *shape)
        return tensor.float() if self._scaled is None else self._scaled(name, tensor)

    def table(self, name: str, *shape: int) -> Tensor:
        """Return a parameter as it is in the file.

        Raises:
            InputError: it is missing, or of another shape, or not of finite floating-point numbers.
        """
        if name not in self._tensors:
            raise InputError(f"{self._path}: no parameter {name!r}")
        tensor = self._tensors.pop(name)
        eight_bits = self._scaled is not None and tensor.dtype == torch.int8
        if tensor.shape != shape or not (eight_bits or tensor.is_floating_point()):
            raise InputError(
                f"{self._path}: parameter {name!r} is {tensor.dtype} {list(tensor.shape)}, "
                f"the config asks for {'' if eight_bits else 'floating-point '}{list(shape)}"
            )
        require_finite(self._path, name, tensor)
        return tensor

    def check_all_used(self) -> None:
        """Refuse a file with parameters that nothing asked for."""
        if self._tensors:
            names = ", ".join(sorted(self._tensors)[:5])
            raise InputError(f"{self._path}: parameters that are not supported: {names}")
