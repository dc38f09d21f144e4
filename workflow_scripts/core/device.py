"""The device that computes."""

from typing import TYPE_CHECKING, Literal, TypeAlias

from workflow_scripts.core.errors import InputError

if TYPE_CHECKING:
    import torch


# As the configuration and commands name it.
Device: TypeAlias = Literal["auto", "cpu", "cuda"]


def choose_device(name: str) -> "torch.device":
    """Return the device called `auto`, `cpu` or `cuda`; `auto` takes a GPU where there is one.

    Raises:
        InputError: a GPU was asked for where there is none.
    """
    import torch  # here, as the environments of most stages are without it

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("device cuda was asked for, but torch finds no GPU; use cpu or auto")
    return torch.device(name)
