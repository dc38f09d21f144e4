"""Numbers that come from outside: finite ones, or an error.

One NaN among scores makes every mean and every correlation NaN, and a comparison with it is false:
a result would be wrong without a word.
"""

import math
import re
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError

# Python's float() takes more: nan, inf, 1_000 for a thousand, digits of other scripts.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
# Numbers of a tensor that are looked at in one go, since torch computes copies of them.
_AT_ONCE = 2**20


def finite(text: str) -> float:
    """Return the number that a text is, blanks around it apart.

    Raises:
        ValueError: it is no decimal number, or greater than a float can be.
    """
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"'{text[:100]}' is no number")
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"'{text[:100]}' is too great a number")
    return number


def perplexity(loss: float) -> float:
    """Return the perplexity of a mean loss; infinity where it is greater than a float can be."""
    try:
        return math.exp(loss)
    except OverflowError:
        return math.inf


def require_finite(path: str | Path, name: str, tensor: Any) -> None:
    """Refuse weights that a diverged training, or damage, left without a value.

    Args:
        path: of the file that they were read from.
        name: of the parameter.
        tensor: its weights, a torch tensor of floating-point numbers.

    Raises:
        InputError: one of them is NaN or infinite.
    """
    if not all(part.isfinite().all() for part in tensor.flatten().split(_AT_ONCE)):
        raise InputError(
            f"{path}: parameter {name!r} holds NaN or infinite numbers; its training diverged, or "
            "the file is damaged. Take another model, or train it again at a lower learning_rate"
        )
